/** bun start: engine → config → store → server → stop. */
import { readConfig } from "./config.ts";
import { endWith } from "./end.ts";
import { setEngine } from "./engine.ts";
import { inOwnWords } from "./program-name.ts";

try {
  setEngine();
  const { serve } = await import("./serve.ts");
  const config = readConfig();
  const running = serve(config);
  process.stdout.write(`listening on ${running.url}\n`);
  if (running.isEmpty) {
    process.stderr.write(
      inOwnWords(
        "There is no account yet. In another terminal: bun admin account create NAME, then bun admin --help.\n",
      ),
    );
  }
} catch (cause) {
  endWith(cause);
}
