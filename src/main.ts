/** bun start: config → store → server → stop. */
import { installed } from "./extensions.ts";
import { exitBecause } from "./runtime/process.ts";
import { startServer } from "./server/serve.ts";

await startServer(installed.serving).catch(exitBecause);
