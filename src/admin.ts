/** bun admin: the command of this process; nothing else. */
import { runCommand } from "./command-line.ts";
import { endWith } from "./operator/end.ts";

try {
  process.exitCode = await runCommand(process.argv);
} catch (cause) {
  endWith(cause);
}
