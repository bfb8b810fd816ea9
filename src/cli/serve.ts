/** leadfile serve: the server, where one executable is both the server and the admin command. */
import { Command } from "commander";

export function serveCommand(serve: (demo: boolean) => Promise<void>): Command {
  return new Command("serve")
    .description("start the server; settings come from the environment")
    .option("--demo", "serve made-up leads, in data/demo.db")
    .action((options: { demo?: boolean }) => serve(options.demo === true));
}
