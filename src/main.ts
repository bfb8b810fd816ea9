/** bun start: config → store → server → stop. */
import { readConfig } from "./config.ts";
import { endWith } from "./end.ts";
import { inOwnWords } from "./own-words.ts";
import { serve } from "./serve.ts";

try {
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
