/** The house: who may import whom, and what is used in one room alone. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";

interface SourceFile {
  /** From src/ on, such as `http/app.ts`. */
  readonly path: string;
  readonly text: string;
  /** Files of src/ that it imports, for types alone as well. */
  readonly files: readonly string[];
  readonly packages: readonly string[];
}

const src = join(import.meta.dir, "../src");
const importOf = /\b(?:from\s*|import\s*\(?\s*)["']([^"']+)["']/g;

// A declaration of what a package lacks is no code of ours.
const paths = [...new Bun.Glob("**/*.ts").scanSync(src)].filter((path) => !path.endsWith(".d.ts")).toSorted();

const house: SourceFile[] = paths.map((path) => {
  const text = readFileSync(join(src, path), "utf8");
  const imported = [...text.matchAll(importOf)].map((match) => match[1] ?? "");
  return {
    path,
    text,
    files: imported.filter((name) => name.startsWith(".")).map((name) => normalize(join(dirname(path), name))),
    packages: imported.filter((name) => !name.startsWith(".")),
  };
});

/** The room of a file; a file in no room is its own. */
const roomOf = (path: string): string => (path.includes("/") ? (path.split("/")[0] ?? "") : path);
const rooms = ["contract", "http", "sqlite", "rqlite", "ingest", "cli", "conformance"];
const filesOf = (room: string) => house.filter((file) => roomOf(file.path) === room);

/** Imports that leave a room, as `from → to`, other than those to the places that are allowed. */
function strays(files: readonly SourceFile[], allowed: readonly string[]): string[] {
  return files.flatMap(({ path, files }) =>
    files
      .filter((to) => !to.startsWith(".."))
      .filter((to) => roomOf(to) !== roomOf(path) && !allowed.includes(roomOf(to)))
      .map((to) => `${path} → ${to}`),
  );
}

/** Files outside a room that use what belongs into it. */
const usersOutside = (room: string, uses: (file: SourceFile) => boolean) =>
  house.filter((file) => roomOf(file.path) !== room && uses(file)).map((file) => file.path);

test("there is a house to look at, and its imports are read", () => {
  expect(house.length).toBeGreaterThan(20);
  expect(house.flatMap((file) => file.files).length).toBeGreaterThan(60);
});

test("the contract imports nothing of the project", () => {
  expect(strays(filesOf("contract"), [])).toEqual([]);
});

test.each(["limiter.ts"])("%s imports the contract alone", (path) => {
  expect(filesOf(path)).toHaveLength(1);
  expect(strays(filesOf(path), ["contract"])).toEqual([]);
});

test("the ports import the contract alone", () => {
  expect(filesOf("store").length).toBeGreaterThan(3);
  expect(strays(filesOf("store"), ["contract"])).toEqual([]);
});

test("no room imports another, but for the contract, and the commands that use ingest and conformance", () => {
  const others = (room: string) => rooms.filter((other) => other !== room && other !== "contract");
  const crossings = rooms.flatMap((room) =>
    filesOf(room).flatMap(({ path, files }) =>
      files.filter((to) => others(room).includes(roomOf(to))).map((to) => `${roomOf(path)} → ${roomOf(to)}`),
    ),
  );
  // A node of a cluster reads its file by the reading of the one file.
  const allowed = ["cli → ingest", "cli → conformance", "rqlite → sqlite"];
  expect(crossings.filter((crossing) => !allowed.includes(crossing))).toEqual([]);
});

test("the client is used by the commands that are clients, and these use nothing else of the house but the terminal", () => {
  const clients = house.filter(({ path }) => /^cli\/(api-client\.ts|follow\/|mcp\/)/.test(path));
  const users = house.filter(({ files }) => files.some((to) => to.startsWith("../client/")));
  expect(users.filter((file) => !clients.includes(file)).map(({ path }) => path)).toEqual([]);
  const own =
    /^(\.\.\/client\/src\/|\.\.\/package\.json|cli\/(api-client|command)\.ts|cli\/(follow|mcp|terminal)\/|operator\/)/;
  const strays = clients.flatMap(({ path, files }) =>
    files.filter((to) => !own.test(to)).map((to) => `${path} → ${to}`),
  );
  expect([clients.length > 5, strays]).toEqual([true, []]);
});

test("no room imports a file that puts rooms together", () => {
  const assembling = house.filter(
    ({ path, files }) =>
      !path.includes("/") && files.some((to) => rooms.includes(roomOf(to)) && roomOf(to) !== "contract"),
  );
  const forbidden = new Set(assembling.map((file) => file.path));
  const climbing = house.filter(({ path, files }) => path.includes("/") && files.some((to) => forbidden.has(to)));
  expect(climbing.map((file) => file.path)).toEqual([]);
});

test("no two files import each other, by whatever way", () => {
  const imports = new Map(house.map((file) => [file.path, file.files]));
  const done = new Set<string>();
  const cycles: string[] = [];
  function walk(path: string, way: readonly string[]): void {
    if (way.includes(path)) cycles.push([...way.slice(way.indexOf(path)), path].join(" → "));
    if (done.has(path)) return;
    done.add(path);
    for (const next of imports.get(path) ?? []) walk(next, [...way, path]);
  }
  for (const path of imports.keys()) walk(path, []);
  expect(cycles).toEqual([]);
});

describe("only one place uses", () => {
  const imports = (pattern: RegExp) => (file: SourceFile) => file.packages.some((name) => pattern.test(name));

  test("Elysia: http/", () => {
    expect(usersOutside("http", imports(/^(@elysiajs\/|elysia$)/))).toEqual([]);
  });

  test("SQLite and Drizzle: sqlite/ and rqlite/", () => {
    const users = usersOutside("sqlite", imports(/^(bun:sqlite|node:sqlite|drizzle-orm)/));
    expect(users.filter((path) => roomOf(path) !== "rqlite")).toEqual([]);
  });

  test("the environment: config.ts", () => {
    // A program that is quoted, its place-holders escaped, reads the environment of whoever copies it.
    const reads = ({ text }: SourceFile) => /(?<!\\\$\{)\b(process|Bun|import\.meta)\.env\b/.test(text);
    expect(usersOutside("config.ts", reads)).toEqual([]);
  });
});

test("every file is named for what it answers for", () => {
  const vague = /^(utils?|helpers?|index|common|misc|shared|types|services?|managers?)$/;
  const names = house.flatMap(({ path }) => path.replace(/\.ts$/, "").split("/"));
  expect(names.filter((name) => vague.test(basename(name)))).toEqual([]);
});

test("every file says in its first line what it answers for", () => {
  expect(house.filter(({ text }) => !text.startsWith("/**")).map((file) => file.path)).toEqual([]);
});
