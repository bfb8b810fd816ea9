#!/usr/bin/env -S bun --no-env-file --config=/dev/null
/** The program mcp: tools for an AI model over standard input and output, through the API of any server. */
import type { Command } from "commander";
import { serverCommand } from "../../client/program/server-command.ts";
import { forgetFolder, type Host, say, stopSignal, thisProcess } from "../../client/program/terminal.ts";
import { Leadfile, type LeadfileOptions, SettingError } from "../../client/src/leadfile.ts";

interface Options {
  readonly reveal?: boolean;
  readonly allowPlainHttp?: boolean;
}

/**
 * The settings with which another program starts this one from its own folder, in which `bun admin` is unknown. Without the
 * options, bun would run the code that a bunfig.toml of that folder names.
 */
const startedBy = Bun.isStandaloneExecutable
  ? '"command": "leadfile", "args": ["mcp", "https://www.example.com"]'
  : '"command": "bun", "args": ["--no-env-file", "--config=/dev/null",\n    "/path/to/leadfile/src/admin.ts", "mcp", "http://localhost:3000"]';

/** The command `mcp URL`. */
export function mcpCommand(host: Host = thisProcess): Command {
  return serverCommand<Options>("mcp", (url, options) => run(host, url, options))
    .description("run an MCP server that lets AI models read a server")
    .option("--reveal", "show names, email addresses, and phones whole")
    .option("--allow-plain-http", "use http to other machines, where others can read it")
    .addHelpText(
      "after",
      `
Set LEADFILE_KEY in the program that starts this one. Standard input and output
carry the Model Context Protocol. Four tools, summarize_leads, list_leads,
list_pixels, and usage, read through the API with that key, so its limit and
usage apply. Names, email addresses, and phones are masked in every field, and
so is each text that has no known shape: words, short numbers, and ranges are
shown. Page addresses lose their query.

The settings of a program that starts it, such as an AI assistant:
  {"mcpServers": {"leadfile": {
    ${startedBy},
    "env": {"LEADFILE_KEY": "lf_…"}}}}`,
    );
}

async function run({ now }: Host, url: string, options: Options): Promise<void> {
  const key = process.env["LEADFILE_KEY"]?.trim() || null;
  // The protocol uses standard input, so the key cannot come from there.
  if (key === null) throw new SettingError("No key was given. Set LEADFILE_KEY in the program that starts this one.");
  const client = createToolClient({ baseUrl: url, key, allowPlainHttp: options.allowPlainHttp === true });
  // These are large, and the other commands do not need them.
  const { converse, createServer } = await import("./server.ts");
  const { masked, revealed } = await import("./mask.ts");
  const server = createServer({ client, show: options.reveal === true ? revealed : masked, now });
  const stop = stopSignal();
  if (process.stdin.isTTY) say("Waiting for a program that speaks MCP. To see its settings, add --help.");
  await converse(server, stop);
  // A request to the server may still keep the process.
  process.exit(0);
}

/** A client whose waits end before programs that call tools give up, which is after a minute. */
export function createToolClient(options: LeadfileOptions): Leadfile {
  return new Leadfile({ ...options, longestWait: "40s", timeout: "20s", retries: 2 });
}

if (import.meta.main) {
  forgetFolder();
  await mcpCommand().parseAsync();
}
