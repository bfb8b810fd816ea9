/** bun admin mcp: tools for a model over standard input and output, through the API of any server. */
import { Command } from "commander";
import type { PackageContext } from "../../../src/cli/command.ts";
import { createOutput } from "../../../src/cli/terminal/output.ts";
import { stopSignal } from "../../../src/cli/terminal/signals.ts";
import { UserError } from "../../../src/user-error.ts";
import { createClient } from "../../client/program/api-client.ts";
import type { Leadfile, LeadfileOptions } from "../../client/src/leadfile.ts";

interface Options {
  readonly reveal?: boolean;
  readonly allowPlainHttp?: boolean;
}

/** How a program starts it from another folder, where `bun admin` is unknown. */
const startedBy = Bun.isStandaloneExecutable
  ? '"command": "leadfile", "args": ["mcp", "https://www.example.com"]'
  : '"command": "bun",\n    "args": ["/path/to/leadfile/src/admin.ts", "mcp", "http://localhost:3000"]';

export function mcpCommand(context: PackageContext): Command {
  return new Command("mcp")
    .description("give an AI model tools that read a server (MCP)")
    .argument("<URL>", "base address, such as https://www.example.com")
    .option("--reveal", "show names, e-mail addresses and phones whole")
    .option("--allow-plain-http", "use http to other machines, where others may read")
    .addHelpText(
      "after",
      `
The program that starts it sets LEADFILE_KEY; standard input and output carry
the Model Context Protocol. Three tools, summarize_leads, list_leads and usage,
read through the API with that key, so that its limit and usage hold. Names,
e-mail addresses and phones are masked, and page addresses lose their query.

Such a program has a file of settings, and takes from it what it starts:
  {"mcpServers": {"leadfile": {
    ${startedBy},
    "env": {"LEADFILE_KEY": "lf_…"}}}}`,
    )
    .action((url: string, options: Options) => run(context, url, options));
}

async function run(context: PackageContext, url: string, options: Options): Promise<void> {
  const key = context.clientKey();
  // Standard input is taken by the protocol.
  if (key === null) throw new UserError("No key was given.", "Set LEADFILE_KEY in what starts this program.", 2);
  const client = createToolClient({ baseUrl: url, key, allowPlainHttp: options.allowPlainHttp === true });
  // Only this command needs them, and they are large.
  const { createServer } = await import("./server.ts");
  const { converse } = await import("./converse.ts");
  const { masked, revealed } = await import("./mask.ts");
  const server = createServer({ client, show: options.reveal === true ? revealed : masked, now: context.now });
  const stop = stopSignal();
  if (process.stdin.isTTY) {
    createOutput(false).say("This waits for a program that speaks MCP; --help has its settings.");
  }
  await converse(server, stop);
  process.exit(0);
}

/** Programs that call tools give up after a minute: a longer wait becomes an answer that says how long. */
export function createToolClient(
  options: Pick<LeadfileOptions, "baseUrl" | "key" | "allowPlainHttp" | "clock">,
): Leadfile {
  return createClient({ ...options, longestWait: "40s", timeout: "20s", retries: 2 });
}
