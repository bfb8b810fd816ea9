/** Bundles the programs of the product for a run of tests: they start in half the time that their sources take. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const root = join(import.meta.dir, "../..");
const entries = ["src/main.ts", "src/admin.ts", "src/backup/file-worker.ts"];

/** Writes main.js, admin.js, and the files that they start into a folder. */
export async function bundlePrograms(folder: string): Promise<void> {
  /** A bundled file finds migrations, the clone, and the sources like its source file, but starts bundled programs. */
  const placed = (path: string) =>
    readFileSync(path, "utf8")
      .replace('join(import.meta.dir, "../admin.ts")', JSON.stringify(join(folder, "admin.js")))
      .replace('"./file-worker.ts"', JSON.stringify(join(folder, "backup/file-worker.js")))
      .replaceAll("import.meta.dir", JSON.stringify(dirname(path)));
  await Bun.build({
    entrypoints: entries.map((entry) => join(root, entry)),
    root: join(root, "src"),
    outdir: folder,
    // Absolute, because a program may run in any folder.
    publicPath: `${folder}/`,
    target: "bun",
    splitting: true,
    plugins: [
      {
        name: "places of sources",
        setup: ({ onLoad }) =>
          void onLoad({ filter: /\/(src|extensions|packages)\/.*\.ts$/ }, ({ path }) => ({
            loader: "ts",
            contents: placed(path),
          })),
      },
    ],
  });
}
