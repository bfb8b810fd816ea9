/** bun admin serve and health, which only the executable has: start the server, and ask for its health. */
import { readConfig } from "../config.ts";
import { startCommand } from "../runtime/program-name.ts";
import { UserError } from "../runtime/user-error.ts";
import { askHealth } from "../server/health.ts";
import { ownAddress, publicOrigin } from "../server/listen-address.ts";
import { AdminCommand, type AnyCommand, type CommandContext } from "./command.ts";

/** The command `serve`. It starts the server in this process, as bun start does, and does not end before it. */
export function serveCommand({ installed }: CommandContext): AnyCommand {
  return new AdminCommand("serve", ["serve", "serve --demo"])
    .option("--demo", "serve sample leads from data/demo.db")
    .action(async (options) => {
      if (options.demo === true) await (await import("./demo/demo.ts")).startDemo(await installed());
      else await (await import("../server/serve.ts")).startServer((await installed()).serving);
      // The process would exit soon after the end of the command. The server ends the process when it has stopped.
      await new Promise<never>(() => undefined);
    });
}

/** The command `health`, for a container that has no other HTTP client. */
export function healthCommand(): AnyCommand {
  return new AdminCommand("health", ["health"]).action(async () => {
    const config = readConfig();
    const origin = ownAddress(config) ?? publicOrigin(config);
    const health = await askHealth(origin);
    if (health === "failing")
      throw new UserError("The server cannot read its database.", "See its log for the reason.");
    if (health === "nobody") throw new UserError(`No server responds at ${origin}.`, `Start it: ${startCommand}`);
  });
}
