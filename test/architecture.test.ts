/** The architecture: which folder may import which, and what only one place may use. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";

interface SourceFile {
  /** From the root of the project, such as `src/api/app.ts`. */
  readonly path: string;
  readonly text: string;
  /** The project's files that it imports, for types alone as well, also from the root. */
  readonly files: readonly string[];
  readonly packages: readonly string[];
}

const root = join(import.meta.dir, "..");
const importOf = /\b(?:from\s*|import\s*\(?\s*)["']([^"']+)["']/g;

const everything = ["src", "extensions", "packages", "lab", "examples", "connectors", "test"].flatMap(filesBelow);
const isTest = ({ path }: SourceFile) => /(^|\/)test\/|\.test\.ts$/.test(path);
const product = everything.filter((file) => /^(src|extensions|packages)\//.test(file.path) && !isTest(file));
const core = product.filter(({ path }) => path.startsWith("src/"));

/** A declaration of what a package lacks is no code of the project. */
function filesBelow(folder: string): SourceFile[] {
  if (!existsSync(join(root, folder))) return [];
  return [...new Bun.Glob("**/*.ts").scanSync(join(root, folder))]
    .filter((path) => !path.endsWith(".d.ts") && !/(^|\/)(node_modules|dist)\//.test(path))
    .toSorted()
    .map((path) => readSource(normalize(join(folder, path))));
}

function readSource(path: string): SourceFile {
  const text = readFileSync(join(root, path), "utf8");
  const imported = [...text.matchAll(importOf)].map((match) => match[1] ?? "");
  return {
    path,
    text,
    files: imported.filter((name) => name.startsWith(".")).map((name) => normalize(join(dirname(path), name))),
    packages: imported.filter((name) => !name.startsWith(".")),
  };
}

/** The imports of some files that lead to a path, each as `from → to`. */
const importsOf = (files: readonly SourceFile[], target: RegExp): string[] =>
  files.flatMap(({ path, files: imported }) => imported.filter((to) => target.test(to)).map((to) => `${path} → ${to}`));

/** The folder below src/ to which a file belongs; a file directly below src/ belongs to none. */
const folderOf = (path: string): string | null => /^src\/(\w+)\//.exec(path)?.[1] ?? null;

test("there are files to look at, and their imports are read", () => {
  expect(core.length).toBeGreaterThan(100);
  expect(core.flatMap((file) => file.files).length).toBeGreaterThan(300);
});

/** The folders of the core and those that each may import. The files directly below src/ compose them. */
const dependencies: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  db: ["contract"],
  // An import asks who was erased, and a restore erases again.
  import: ["contract", "db", "privacy"],
  privacy: ["contract", "db"],
  backup: ["contract", "db", "privacy"],
  api: ["contract", "db", "privacy"],
};

/** Imports against the layout that are left. A number here only goes down. */
const left = {
  db: 0,
  import: 0,
  privacy: 0,
  backup: 0,
  api: 0,
  extensions: 0,
  packages: 0,
  "between extensions": 0,
};

test.each(Object.keys(dependencies))("src/%s imports only the folders below it", (folder) => {
  const files = core.filter(({ path }) => folderOf(path) === folder);
  const strays = files.flatMap(({ path, files: imported }) =>
    imported
      .filter((to) => {
        const target = folderOf(to);
        return target !== null && target !== folder && !(dependencies[folder] ?? []).includes(target);
      })
      .map((to) => `${path} → ${to}`),
  );
  expectAtMost(strays, folder);
});

/** Expects that no more imports than are left go against the layout, and names them otherwise. */
function expectAtMost(strays: readonly string[], part: string): void {
  const most = (left as Readonly<Record<string, number>>)[part] ?? 0;
  expect(strays.length > most ? strays : []).toEqual([]);
}

test("the core imports no extension and no package, apart from src/extensions.ts", () => {
  expectAtMost(
    importsOf(
      core.filter(({ path }) => path !== "src/extensions.ts"),
      /^(extensions|packages)\//,
    ),
    "extensions",
  );
});

test("packages never import the core or an extension", () => {
  expectAtMost(
    importsOf(
      product.filter(({ path }) => path.startsWith("packages/")),
      /^(src|extensions)\//,
    ),
    "packages",
  );
});

test("no extension imports another one", () => {
  const strays = product.flatMap(({ path, files }) => {
    const own = /^extensions\/\w+\//.exec(path)?.[0];
    return own === undefined ? [] : files.filter((to) => to.startsWith("extensions/") && !to.startsWith(own));
  });
  expectAtMost(strays, "between extensions");
});

test("no two files import each other, directly or through others", () => {
  const imports = new Map(everything.map((file) => [file.path, file.files]));
  const done = new Set<string>();
  const cycles: string[] = [];
  function walk(path: string, trail: readonly string[]): void {
    if (trail.includes(path)) cycles.push([...trail.slice(trail.indexOf(path)), path].join(" → "));
    if (done.has(path)) return;
    done.add(path);
    for (const next of imports.get(path) ?? []) walk(next, [...trail, path]);
  }
  for (const path of imports.keys()) walk(path, []);
  expect(cycles).toEqual([]);
});

describe("only one place uses", () => {
  const users = (pattern: RegExp) => core.filter(({ packages }) => packages.some((name) => pattern.test(name)));

  test("Elysia: src/api", () => {
    const strays = users(/^(@elysiajs\/|elysia$)/).filter(({ path }) => folderOf(path) !== "api");
    expect(strays.map(({ path }) => path)).toEqual([]);
  });

  test("SQLite and Drizzle: db, import, privacy and backup", () => {
    const strays = users(/^(bun:sqlite|drizzle-orm)/).filter(
      ({ path }) => !["db", "import", "privacy", "backup"].includes(folderOf(path) ?? ""),
    );
    expect(strays.map(({ path }) => path)).toEqual([]);
  });

  test("the environment: src/config.ts", () => {
    const readers = core.filter(({ text }) => /(?<!\\\$\{)\b(process|Bun|import\.meta)\.env\b/.test(text));
    expect(readers.map(({ path }) => path)).toEqual(["src/config.ts"]);
  });
});

test("every file is named for what it answers for", () => {
  const vague = /^(utils?|helpers?|index|common|misc|shared|types|services?|managers?)$/;
  const names = product.flatMap(({ path }) => path.replace(/\.ts$/, "").split("/"));
  expect(names.filter((name) => vague.test(basename(name)))).toEqual([]);
});

test("every file says in its first line what it is responsible for", () => {
  expect(product.filter(({ text }) => !/^(#!.*\n)?\/\*\*/.test(text)).map((file) => file.path)).toEqual([]);
});

test("every worker thread has a file name of its own, because the executable keeps them in one folder", () => {
  const workers = product.map(({ path }) => basename(path)).filter((name) => name.endsWith("-worker.ts"));
  expect(new Set(workers).size).toBe(workers.length);
});

test("no module keeps state: what changes is held by what a function returns", () => {
  const quoted = /`(?:\\.|[^`\\])*`/g;
  const changing =
    /^(?:export )?let |^(?:export )?const \w+(?:: (?:Map|Set)<.*>)? = new (?:Weak)?(?:Map|Set)(?:<[^\n]*>)?\(\);?$/m;
  expect(core.filter(({ text }) => changing.test(text.replaceAll(quoted, ""))).map(({ path }) => path)).toEqual([]);
});

/** The lines of code that each folder may have. They are lowered with what is deleted, and raised for a new capability alone. */
const budgets: Readonly<Record<string, number>> = {
  src: 19_645,
  "extensions/delivery": 1_700,
  "extensions/cluster": 2_490,
  packages: 2_830,
  "test and lab": 34_000,
};

test.each(Object.entries(budgets))("%s has at most %d lines", (place, most) => {
  const lines = place.split(" and ").flatMap(filesWithCode).map(linesOf);
  const sum = lines.reduce((all, count) => all + count, 0);
  process.stdout.write(`${place}: ${sum} of at most ${most} lines in ${lines.length} files\n`);
  expect(sum).toBeLessThanOrEqual(most);
});

function filesWithCode(folder: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  return [...new Bun.Glob("**/*.{ts,css,js,mjs,lua,sh,py,go,java}").scanSync(join(root, folder))]
    .filter((path) => !/(^|\/)(node_modules|dist|__pycache__)\//.test(path))
    .map((path) => join(root, folder, path));
}

const linesOf = (path: string) => readFileSync(path, "utf8").split("\n").length - 1;

test("only test/support/needing.ts skips tests, because it says why in their names", () => {
  const skipping = everything.filter(({ text }) => /\b(?:test|describe)\.(?:skip|todo|if)/.test(text));
  expect(skipping.map(({ path }) => path)).toEqual(["test/support/needing.ts"]);
});
