/** The house: who may import whom, and what is used in one room alone. */
import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";

interface SourceFile {
  /** From src/ on, such as `http/app.ts`; from the root of the project on for what lies elsewhere, such as `../lab/…`. */
  readonly path: string;
  readonly text: string;
  /** Files of ours that it imports, for types alone as well, named likewise. */
  readonly files: readonly string[];
  readonly packages: readonly string[];
}

const src = join(import.meta.dir, "../src");
const importOf = /\b(?:from\s*|import\s*\(?\s*)["']([^"']+)["']/g;

/** All files of a folder beside or below src/. A declaration of what a package lacks is no code of ours. */
function filesBelow(folder: string): SourceFile[] {
  return [...new Bun.Glob("**/*.ts").scanSync(join(src, folder))]
    .filter((path) => !path.endsWith(".d.ts") && !/(^|\/)(node_modules|dist)\//.test(path))
    .toSorted()
    .map((path) => readSource(normalize(join(folder, path))));
}

function readSource(path: string): SourceFile {
  const text = readFileSync(join(src, path), "utf8");
  const imported = [...text.matchAll(importOf)].map((match) => match[1] ?? "");
  return {
    path,
    text,
    files: imported.filter((name) => name.startsWith(".")).map((name) => normalize(join(dirname(path), name))),
    packages: imported.filter((name) => !name.startsWith(".")),
  };
}

const house = filesBelow(".");
/** What belongs to the project and lies outside of src/. */
const grounds = ["../client", "../lab", "../examples", "../connectors", "../test"].filter((folder) =>
  existsSync(join(src, folder)),
);
const everything = [...house, ...grounds.flatMap(filesBelow)];

/** The room of a file; a file in no room is its own. */
const roomOf = (path: string): string => (path.includes("/") ? (path.split("/")[0] ?? "") : path);
const filesOf = (room: string) => house.filter((file) => roomOf(file.path) === room);

/** Which rooms a room may use: the arrows of the house. What is not named here puts rooms together. */
const arrows: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  "limiter.ts": ["contract"],
  store: ["contract"],
  operator: ["contract", "store"],
  config: ["contract", "operator"],
  listening: [],
  http: ["contract", "store", "limiter.ts", "config", "listening"],
  sqlite: ["contract", "store"],
  // A node of a cluster reads its file by the reading of the one file.
  rqlite: ["contract", "store", "sqlite"],
  ingest: ["contract", "store", "operator"],
  conformance: ["contract"],
  inbox: ["contract", "store", "operator", "ingest"],
  receive: ["contract", "store", "operator", "ingest", "listening"],
  cli: ["contract", "store", "operator", "config", "ingest", "conformance", "inbox", "receive"],
};
const rooms = Object.keys(arrows);

/** Imports that leave a room for another one. */
function crossings(room: string): { readonly from: string; readonly to: string }[] {
  return filesOf(room).flatMap(({ path, files }) =>
    files
      .filter((to) => !to.startsWith("..") && roomOf(to) !== room && rooms.includes(roomOf(to)))
      .map((to) => ({ from: path, to })),
  );
}

/** Files outside a room that use what belongs into it. */
const usersOutside = (room: string, uses: (file: SourceFile) => boolean) =>
  house.filter((file) => roomOf(file.path) !== room && uses(file)).map((file) => file.path);

test("there is a house to look at, and its imports are read", () => {
  expect(house.length).toBeGreaterThan(20);
  expect(house.flatMap((file) => file.files).length).toBeGreaterThan(60);
  expect(everything.filter(({ path }) => path.startsWith("../lab/")).length).toBeGreaterThan(20);
});

test.each(rooms)("%s uses the rooms below it and no other", (room) => {
  const strays = crossings(room).filter(({ to }) => !arrows[room]?.includes(roomOf(to)));
  expect(strays.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
});

test.each([
  ["columns", []],
  ["csv", ["columns"]],
  ["json", ["columns"]],
  ["file", ["columns", "csv", "json"]],
  ["values", []],
  ["lead", ["columns", "values"]],
])("of the rooms of ingest, %s uses %j and no other", (room, used) => {
  const others = filesOf("ingest")
    .filter(({ path }) => path.startsWith(`ingest/${room}/`))
    .flatMap(({ files }) => files.map((to) => /^ingest\/(\w+)\//.exec(to)?.[1] ?? room))
    .filter((to) => to !== room);
  expect([...new Set(others)].toSorted()).toEqual(used);
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

/** What puts rooms together: the files of no room, and the server in its running. */
const isAbove = (path: string) => !path.includes("/") || path.startsWith("serving/");

test("no room imports a file that puts rooms together", () => {
  const assembling = house.filter(
    ({ path, files }) =>
      isAbove(path) &&
      !rooms.includes(path) &&
      files.some((to) => ["http", "sqlite", "rqlite", "cli"].includes(roomOf(to))),
  );
  const forbidden = new Set(assembling.map((file) => file.path));
  const climbing = house.filter(({ path, files }) => !isAbove(path) && files.some((to) => forbidden.has(to)));
  expect(climbing.map((file) => file.path)).toEqual([]);
});

test("no two files import each other by whatever way, in src, the client, the lab and the tests", () => {
  const imports = new Map(everything.map((file) => [file.path, file.files]));
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

test("no two rooms of src import each other, one inside the other apart", () => {
  const arrows = new Set(house.flatMap(({ path, files }) => files.map((to) => `${dirname(path)} → ${dirname(to)}`)));
  const mutual = [...arrows].filter((arrow) => {
    const [from = "", to = ""] = arrow.split(" → ");
    const isNested = [from, to].includes(".") || from.startsWith(`${to}/`) || to.startsWith(`${from}/`);
    return from !== to && !isNested && arrows.has(`${to} → ${from}`);
  });
  expect(mutual).toEqual([]);
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

test("of a cluster there is one look at the lease on the way of a request, one on that of a delivery, and nothing else", () => {
  expect(filesOf("http").flatMap(({ files }) => files.filter((to) => roomOf(to) === "rqlite"))).toEqual([]);
  const looks = filesOf("rqlite").flatMap(({ path, text }) => text.match(/lease\.holds\(\)/g)?.map(() => path) ?? []);
  expect(looks).toEqual(["rqlite/lease/read-under-lease.ts", "rqlite/source-finder.ts"]);
});

test("every file is named for what it answers for", () => {
  const vague = /^(utils?|helpers?|index|common|misc|shared|types|services?|managers?)$/;
  const names = house.flatMap(({ path }) => path.replace(/\.ts$/, "").split("/"));
  expect(names.filter((name) => vague.test(basename(name)))).toEqual([]);
});

test("every thread has a file name of its own: the executable keeps them all in one folder", () => {
  const threads = house.map(({ path }) => basename(path)).filter((name) => name.endsWith("-worker.ts"));
  expect(threads.length).toBeGreaterThan(2);
  expect(new Set(threads).size).toBe(threads.length);
  const started = house.flatMap(({ text }) => [...text.matchAll(/new Worker\(new URL\("([^"]*)"/g)]);
  expect(started.map(([, path]) => path).toSorted()).toEqual(threads.map((name) => `./${name}`).toSorted());
});

test("every file says in its first line what it answers for", () => {
  expect(house.filter(({ text }) => !text.startsWith("/**")).map((file) => file.path)).toEqual([]);
});

describe("sqlite/ knows no command", () => {
  test.each([
    ["the error that is said to a person", /\bUserError\b/],
    ["the name of the program", /\bbun (admin|start|run)\b|\bleadfile (serve|admin)\b|program-name/],
    ["a flag", /["'`\s(]--[a-z][a-z-]+\b/],
    ["a setting", /\b(DATABASE_PATH|BASE_URL|RATE_LIMIT_PER_MIN)\b/],
  ])("nor %s", (_what, pattern) => {
    expect(
      filesOf("sqlite")
        .filter(({ text }) => pattern.test(text))
        .map(({ path }) => path),
    ).toEqual([]);
  });
});

test("tests can be read at a sitting: a file has at most 300 lines, a group in it at most 80", () => {
  const tests = everything.filter(({ path }) => /^\.\.\/(test|lab)\/.*\.test\.ts$/.test(path));
  const group = /^( *)describe\b.*\n(?:(?!\1\}).*\n)*\1\}/gm;
  const lengthOf = (text: string) => text.split("\n").length;
  const groups = tests.flatMap(({ path, text }) =>
    [...text.matchAll(group)].map(([lines]) => ({ path, length: lengthOf(lines) })),
  );
  expect(groups.length).toBeGreaterThan(100);
  expect(groups.filter(({ length }) => length > 80)).toEqual([]);
  expect(tests.filter(({ text }) => lengthOf(text) > 300).map(({ path }) => path)).toEqual([]);
});

test("no module keeps state: what changes is held by what a function returns", () => {
  // A program that is quoted may do as it likes.
  const quoted = /`(?:\\.|[^`\\])*`/g;
  const changing =
    /^(?:export )?let |^(?:export )?const \w+(?:: (?:Map|Set)<.*>)? = new (?:Weak)?(?:Map|Set)(?:<[^\n]*>)?\(\);?$/m;
  expect(house.filter(({ text }) => changing.test(text.replaceAll(quoted, ""))).map(({ path }) => path)).toEqual([]);
});

test("what the compiler cannot know is said in fewer than ten places, each with its reason", () => {
  // Its places are counted from lengths, and it says so: a check of each would double the time of an erasure.
  const searched = house.filter(({ path }) => path !== "sqlite/privacy/search/byte-search.ts");
  const casts = searched.flatMap(({ path, text }) => castsIn(text).map((lines) => ({ path, lines })));
  expect(casts.filter(({ lines }) => !/\/\/ /.test(lines))).toEqual([]);
  expect(casts.map(({ path }) => path).length).toBeLessThan(10);
});

/** Each line that says `as`, with the ten lines before it when it ends a call: a reason stands beside it or above. */
function castsIn(text: string): string[] {
  const lines = text.replaceAll(/`(?:\\.|[^`\\])*`/g, (quoted) => quoted.replaceAll(/[^\n]/g, " ")).split("\n");
  return lines.flatMap((line, place) => {
    const code = line.replaceAll(/"(?:\\.|[^"\\])*"/g, '""').replace(/\/\/.*|^\s*\/?\*.*/, "");
    if (/^import |^export \{/.test(code) || !/[\w)\]}] as (?!const\b)[\w{([]/.test(code)) return [];
    return [lines.slice(Math.max(0, place - (/^\s*\}\)/.test(code) ? 10 : 1)), place + 1).join("\n")];
  });
}
