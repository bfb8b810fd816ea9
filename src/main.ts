/** bun start: config → store → server → stop. */
import { installed } from "./extensions.ts";
import { endWith } from "./runtime/process.ts";
import { startServer } from "./server/serve.ts";

await startServer(installed.serving).catch(endWith);
