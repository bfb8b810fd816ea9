/** bun run demo: config → database → made-up leads → server, with its own file. */
import { startDemo } from "./cli/demo/demo.ts";
import { installed } from "./extensions.ts";
import { exitBecause } from "./runtime/process.ts";

await startDemo(installed).catch(exitBecause);
