/** Preloaded into a program: prints the project's own source files that it has loaded, one per line, when it ends. */
import { writeSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "../..");

process.on("exit", () => {
  const own = Object.keys(require.cache).filter((path) => /\.ts$/.test(path) && path.startsWith(`${root}/`));
  const loaded = own.filter((path) => path !== import.meta.path && !path.includes("/node_modules/"));
  writeSync(2, loaded.map((path) => `loaded ${path.slice(root.length + 1)}\n`).join(""));
});
