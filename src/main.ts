/** bun start: engine → config → store → server → stop. */
import { readConfig } from "./config.ts";
import { endWith } from "./end.ts";
import { setEngine } from "./engine.ts";
import { adminCommand } from "./operator/program-name.ts";

try {
  setEngine();
  const { serve } = await import("./serve.ts");
  const config = readConfig();
  const running = serve(config);
  process.stdout.write(`listening on ${running.url}\n`);
  if (running.isEmpty) {
    process.stderr.write(
      `There is no account yet. In another terminal: ${adminCommand} account create NAME, then ${adminCommand} --help.\n`,
    );
  }
} catch (cause) {
  endWith(cause);
}
