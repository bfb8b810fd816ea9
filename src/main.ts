/** bun start: config → store → server → stop. */
import { forgetFolder } from "./config.ts";
import { installed } from "./extensions.ts";
import { exitBecause } from "./runtime/process.ts";
import { startServer } from "./server/serve.ts";

forgetFolder();
await startServer(installed.serving).catch(exitBecause);
