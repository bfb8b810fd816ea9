/** The architecture: which folder may import which, and what only one place may use. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";

interface SourceFile {
  /** From the root of the project, such as `src/api/app.ts`. */
  readonly path: string;
  readonly text: string;
  /** The packages that it imports, and the project's files from the root, for types alone as well. */
  readonly imports: readonly string[];
}

const root = join(import.meta.dir, "..");
const importOf = /\b(?:from\s*|import\s*\(?\s*)["']([^"']+)["']/g;

const everything = ["src", "extensions", "packages", "lab", "examples", "connectors", "test"].flatMap(filesBelow);
const isTest = ({ path }: SourceFile) => /(^|\/)test\/|\.test\.ts$/.test(path);
const product = everything.filter((file) => /^(src|extensions|packages)\//.test(file.path) && !isTest(file));
const core = product.filter(({ path }) => path.startsWith("src/"));

/** A declaration of what a package lacks is no code of the project. */
function filesBelow(folder: string): SourceFile[] {
  return pathsIn(folder, "ts")
    .filter((path) => !path.endsWith(".d.ts"))
    .map((path) => {
      const text = readFileSync(join(root, path), "utf8");
      const imported = [...text.matchAll(importOf)].map(([, name = ""]) => name);
      const imports = imported.map((name) => (name.startsWith(".") ? normalize(join(dirname(path), name)) : name));
      return { path, text, imports };
    });
}

/** The files below a folder that somebody has written. */
function pathsIn(folder: string, extensions: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  const paths = [...new Bun.Glob(`${folder}/**/*.${extensions}`).scanSync(root)].toSorted();
  return paths.filter((path) => !/(^|\/)(node_modules|dist|__pycache__)\//.test(path));
}

/** Every import of the product. */
const imports = product.flatMap(({ path, imports }) => imports.map((imported) => `${path} → ${imported}`));

test("there are files to look at, and their imports are read", () => {
  expect(core.length).toBeGreaterThan(100);
  expect(imports.filter((line) => /^src\/.* → src\//.test(line)).length).toBeGreaterThan(300);
});

/**
 * The rooms of the project, and what the files of each may import besides files of the same room. Arrows go down: a room
 * imports only rooms that stand above it in this list. Every file is in one room.
 */
const rooms: readonly [room: RegExp, mayImport: RegExp][] = [
  [/^src\/contract\//, /^$/],
  [/^src\/runtime\//, /^src\/contract\//],
  [/^src\/config\.ts$/, /^src\/(contract|runtime)\//],
  [/^src\/db\//, /^src\/(contract|runtime)\//],
  [/^src\/privacy\//, /^src\/(contract|runtime|db)\//],
  // An import asks who was erased, and a restore erases again.
  [/^src\/import\//, /^src\/(contract|runtime|db|privacy)\//],
  [/^src\/backup\//, /^src\/(contract|runtime|db|privacy)\//],
  [/^src\/api\//, /^src\/(contract|runtime|db|privacy)\//],
  [/^src\/server\//, /^src\/((contract|runtime|db|privacy|backup|api)\/|config\.ts$)/],
  [/^src\/cli\//, /^src\/((contract|runtime|db|privacy|import|backup|api|server)\/|config\.ts$)/],
  // Only this file names an extension or a package.
  [/^src\/extensions\.ts$/, /^(src\/(\w+\/|config\.ts$)|extensions\/\w+\/extension\.ts$|packages\/)/],
  [/^src\/(main|admin|demo)\.ts$/, /^src\/(\w+\/|config\.ts$|extensions\.ts$)/],
  [/^extensions\/(\w+)\//, /^src\/(\w+\/|config\.ts$)/],
  // Programs that know a server only over HTTP. They may use the client.
  [/^packages\/(\w+)\//, /^packages\/client\//],
  [/^(examples|connectors)\//, /^packages\/client\//],
  [/^(test|lab)\//, /./],
];

/** Returns the room of a file, such as `src/db/`; null if it has none. */
function roomOf(path: string): { readonly name: string; readonly mayImport: RegExp } | null {
  for (const [room, mayImport] of rooms) {
    const name = room.exec(path)?.[0];
    if (name !== undefined) return { name, mayImport };
  }
  return null;
}

test("every file is in a room, and the root of src has five files", () => {
  expect(everything.filter(({ path }) => roomOf(path) === null).map(({ path }) => path)).toEqual([]);
  const root = core.filter(({ path }) => /^src\/[^/]+$/.test(path)).map(({ path }) => basename(path));
  expect(root).toEqual(["admin.ts", "config.ts", "demo.ts", "extensions.ts", "main.ts"]);
});

test("every file imports only its own room and those below it", () => {
  const strays = everything.flatMap(({ path, imports }) => {
    const room = roomOf(path);
    const isAllowed = (imported: string) => room?.mayImport.test(imported) || imported.startsWith(room?.name ?? "");
    const ours = imports.filter((imported) => /^(src|extensions|packages|lab|test)\//.test(imported));
    return ours.filter((imported) => !isAllowed(imported)).map((imported) => `${path} → ${imported}`);
  });
  expect(strays).toEqual([]);
});

test.each<[rule: string, strays: RegExp]>([
  ["src/contract uses only TypeBox and Node", /^src\/contract\/.* → (?!src\/|@sinclair\/typebox|node:)/],
  ["only src/api uses Elysia", /^src\/(?!api\/).* → (@elysiajs\/|elysia$)/],
  [
    "only db, import/write, privacy, and backup use SQLite and Drizzle",
    /^src\/(?!(?:db|import\/write|privacy|backup)\/).* → (bun:sqlite|drizzle-orm)/,
  ],
])("%s", (_, strays) => {
  expect(imports.filter((line) => strays.test(line))).toEqual([]);
});

test("no two files import each other, directly or through others", () => {
  const importsOf = new Map(everything.map((file) => [file.path, file.imports]));
  const done = new Set<string>();
  const cycles: string[] = [];
  function walk(path: string, trail: readonly string[]): void {
    if (trail.includes(path)) cycles.push([...trail.slice(trail.indexOf(path)), path].join(" → "));
    if (done.has(path)) return;
    done.add(path);
    for (const next of importsOf.get(path) ?? []) walk(next, [...trail, path]);
  }
  for (const path of importsOf.keys()) walk(path, []);
  expect(cycles).toEqual([]);
});

test("only src/config.ts reads the environment", () => {
  const readers = core.filter(({ text }) => /(?<!\\\$\{)\b(process|Bun|import\.meta)\.env\b/.test(text));
  expect(readers.map(({ path }) => path)).toEqual(["src/config.ts"]);
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

test("only test/support/needing.ts skips tests, because it says why in their names", () => {
  const skipping = everything.filter(({ text }) => /\b(?:test|describe)\.(?:skip|todo|if)/.test(text));
  expect(skipping.map(({ path }) => path)).toEqual(["test/support/needing.ts"]);
});
