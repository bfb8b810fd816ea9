/** Bundles the programs of the product for a run of tests: they start in half the time that their sources take. */
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const root = join(import.meta.dir, "../..");
const source = join(root, "src");
const entries = ["main.ts", "admin.ts", ...new Bun.Glob("**/*-worker.ts").scanSync(source)];

/** Writes main.js, admin.js, and the files that they start into a folder. */
export async function bundlePrograms(folder: string): Promise<void> {
  /** A bundled file finds migrations, the clone, and the sources like its source file, but starts bundled programs. */
  const placed = (path: string) =>
    readFileSync(path, "utf8")
      .replace('join(import.meta.dir, "../admin.ts")', JSON.stringify(join(folder, "admin.js")))
      .replace(/"\.\/([a-z-]+-worker)\.ts"/, (_, worker) =>
        JSON.stringify(join(folder, relative(source, dirname(path)), `${worker}.js`)),
      )
      .replaceAll("import.meta.dir", JSON.stringify(dirname(path)));
  await Bun.build({
    entrypoints: entries.map((entry) => join(source, entry)),
    root: source,
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
