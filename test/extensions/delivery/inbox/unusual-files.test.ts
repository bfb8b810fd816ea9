/** The inbox with unusual files, folders, and links: each is reported, leads nowhere, and does not block the import of others. */
import { expect, test } from "bun:test";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { Columns } from "../../../../src/import/map/columns.ts";
import { readMapping } from "../../../../src/import/map/mapping.ts";
import { toText } from "../../../../src/import/parse/encoding.ts";
import { openRows } from "../../../../src/import/parse/format.ts";
import { writeRejects } from "../../../../src/import/parse/rejects.ts";
import { openSource } from "../../../../src/import/parse/source.ts";
import { eventually } from "../../../support/eventually.ts";
import { aFolder } from "../../../support/folder.ts";
import { needing } from "../../../support/needing.ts";
import { mountAt } from "../../../support/small-disk.ts";
import { anInbox } from "./an-inbox.ts";

test("an internal error on a file is reported once and blocks no other folder", async () => {
  const inbox = anInbox((file) => {
    if (file.startsWith("acme/")) throw new RangeError("Maximum call stack size exceeded.");
    return { kind: "done", rejected: 0 };
  });
  mkdirSync(inbox.path("acme-2"));
  inbox.drop("acme/a.csv");
  inbox.drop("acme-2/b.csv");
  await inbox.lookAfter(0, 1, 2, 3, 4);
  expect(inbox.said.toSorted()).toEqual([
    "acme-2/b.csv: done",
    "acme/: its files are tried again: Leadfile failed (RangeError: Maximum call stack size exceeded.)",
  ]);
  expect(inbox.in("acme")).toContain("a.csv");
});

const mkfifo = (path: string) => expect(Bun.spawnSync(["mkfifo", path]).exitCode).toBe(0);
const aFile = (text: string) => (path: string) => writeFileSync(path, text);
const aLinkTo = (target: string) => (path: string) => symlinkSync(target, path);
const aLatin1Name = (path: string) => writeFileSync(Buffer.from(path, "latin1"), "email\n");
const aLink = "it is a link; replace it with the file itself.";

/** An inbox with something unusual at a path, after several looks, and what it has said of that. */
async function withUnusual(path: string, make: (path: string) => unknown) {
  const inbox = anInbox();
  mkdirSync(inbox.path("acme-2"));
  for (const name of ["acme/a.csv", "acme-2/b.csv"]) inbox.drop(name);
  make(inbox.path(path));
  await inbox.lookAfter(0, 1, 2, 3, 4);
  return { ...inbox, remarks: inbox.said.filter((line) => !line.endsWith(": done")) };
}

test.each<[path: string, what: string, says: string, make: (path: string) => unknown]>([
  ["b.csv", "a file next to the folders", "it is not in the folder of an account; move it into one.", aFile("email\n")],
  ["acme/odd.csv", "a folder", "it is a folder; move its files out of it.", (path) => mkdirSync(path)],
  ["acme/odd.csv", "a pipe", "it is a pipe, a socket, or a device; replace it with a file.", mkfifo],
  ["acme/odd.csv", "a link into the folder of another account", aLink, aLinkTo("../acme-2/b.csv")],
  ["acme/odd.csv", "a link in a circle", aLink, aLinkTo("odd.csv")],
  ["acme/odd.csv", "a link to nowhere", aLink, aLinkTo("../nowhere/b.csv")],
  ["acme/f\xfcr.csv", "a file whose name is not UTF-8", "its name is not UTF-8", aLatin1Name],
])("%s, %s, is reported and counted once, and all other files are imported", async (path, _, says, make) => {
  const { remarks, counted } = await withUnusual(path, make);
  expect(remarks).toEqual([expect.stringContaining(says)]);
  expect(counted.toSorted()).toEqual(["done", "done", "later"]);
});

const noLink = "is a link; remove it first.";
const unread = "cannot be read (not a file, or larger than 64 KiB)";

test.each<[name: string, what: string, says: string, make: (path: string) => unknown]>([
  ["done", "a link", noLink, aLinkTo("..")],
  ["rejected", "a link", noLink, aLinkTo("..")],
  ["failed", "a link", noLink, aLinkTo("..")],
  [".rejected-a.csv", "a link", noLink, aLinkTo("..")],
  ["done", "a file", "cannot store imported files (ENOTDIR); make it a writable folder.", aFile("")],
  ["import.json", "no JSON", "cannot be read (not JSON)", aFile("{")],
  ["import.json", "an object with an unknown name", 'has an invalid "pixle"', aFile(`{"pixle":"px"}`)],
  ["import.json", "an object with a wrong value", 'has an invalid "stamp"', aFile(`{"stamp":"now"}`)],
  ["import.json", "an object with a value of another type", 'has an invalid "pixel"', aFile(`{"pixel":false}`)],
  ["import.json", "an object with an option that is no setting", 'has an invalid "dry-run"', aFile(`{"dry-run":true}`)],
  ["import.json", "an object with a number", 'has an invalid "pixel"', aFile(`{"create-pixels":false,"pixel":5}`)],
  ["import.json", "a list", "is not a JSON object", aFile("[]")],
  ["import.json", "large", unread, aFile(" ".repeat(100_000))],
  ["import.json", "a folder", unread, (path) => mkdirSync(path)],
  ["import.json", "a pipe", unread, mkfifo],
  ["import.json", "a link to what has no end", unread, aLinkTo("/dev/zero")],
  ["import.json", "a link to nowhere", "cannot be read (ENOENT)", aLinkTo("../nowhere")],
])("while %s is %s, which is reported once, no file of its folder is imported", async (name, _, says, make) => {
  const inbox = await withUnusual(`acme/${name}`, make);
  const of = name === "import.json" ? "acme/" : "acme/a.csv";
  expect(inbox.remarks).toEqual([expect.stringMatching(RegExp(`^${of}: .*${RegExp.escape(`${name} ${says}`)}`))]);
  expect(inbox.taken.map(({ file }) => file)).toEqual(["acme-2/b.csv"]);
  rmSync(inbox.path(`acme/${name}`), { recursive: true });
  await inbox.lookAfter(1, 2);
  expect(inbox.in("acme/done")).toEqual(["a.csv"]);
});

needing("mount")("no file is imported while a folder of the inbox is on another disk", async () => {
  const inbox = anInbox();
  mkdirSync(inbox.path("acme/done"));
  using _ = mountAt(inbox.path("acme/done"), "size=16k");
  inbox.drop("acme/a.csv");
  await inbox.lookAfter(0, 1, 2, 3, 4);
  expect(inbox.taken).toEqual([]);
  expect(inbox.said).toEqual([expect.stringMatching(/done is on another disk; move it to the disk of the inbox\.$/)]);
});

test("a file that changes during each of its imports is reported once, until it is imported", async () => {
  let changes = 3;
  const inbox = anInbox((file) => {
    if (changes-- > 0) appendFileSync(inbox.path(file), "more\n");
    return { kind: "done", rejected: 0 };
  });
  inbox.drop("acme/a.csv");
  await inbox.lookAfter(...Array.from({ length: 30 }, (_, second) => second));
  expect(inbox.said).toHaveLength(2);
  expect(inbox.said).toEqual([expect.stringContaining("changed"), "acme/a.csv: done"]);
});

test("a file that could not be moved is imported again after it changed", async () => {
  const inbox = anInbox(() => {
    if (inbox.taken.length > 1) return { kind: "done", rejected: 0 };
    symlinkSync(inbox.path("nowhere"), inbox.path("acme/failed"));
    return { kind: "failed", reason: "It is a picture." };
  });
  inbox.drop("acme/a.csv");
  await inbox.lookAfter(0, 1, 2, 3);
  expect(inbox.taken).toHaveLength(1);
  inbox.drop("acme/a.csv", "email\nb@example.com\nc@example.com\n");
  rmSync(inbox.path("acme/failed"));
  await inbox.lookAfter(0, 1, 2, 3);
  expect([inbox.taken.length, inbox.in("acme/done")]).toEqual([2, ["a.csv"]]);
});

test.each(["done", "failed"] as const)("a file with the longest possible name is moved to %s/", async (kind) => {
  const inbox = anInbox(() => (kind === "done" ? { kind, rejected: 1 } : { kind, reason: "It is a picture." }));
  inbox.drop(`acme/${"x".repeat(251)}.csv`);
  await inbox.lookAfter(0, 2);
  expect(inbox.in(`acme/${kind}`)[0]).toMatch(/^x{200,}\.csv$/);
  expect(inbox.in("acme")).toEqual(kind === "done" ? ["done", "rejected"] : ["failed"]);
});

test("a control character in the name of a file is printed as ?", async () => {
  const inbox = anInbox();
  inbox.drop("acme/\u001b[31m.csv");
  await inbox.lookAfter(0, 2);
  expect(inbox.said).toEqual(["acme/?[31m.csv: done"]);
});

const noInput = () => new ReadableStream<Uint8Array>();

test("a file that becomes a link is not imported", async () => {
  const inbox = anInbox((file) => {
    if (file === "acme/a.csv") {
      rmSync(inbox.path("acme/b.csv"));
      symlinkSync("../other/leads.csv", inbox.path("acme/b.csv"));
    }
    return { kind: "done", rejected: 0 };
  });
  mkdirSync(inbox.path("other"));
  inbox.drop("other/leads.csv");
  inbox.drop("acme/a.csv");
  inbox.drop("acme/b.csv");
  await inbox.lookAfter(0, 1, 2, 3, 4);
  expect(inbox.taken.map(({ file }) => file)).toEqual(["acme/a.csv"]);
  expect(inbox.said).toContain("acme/b.csv: it is a link; replace it with the file itself.");
});

test.each([
  ["done", ["a.csv"], { kind: "done", rejected: 1 }],
  ["rejected", ["a.csv"], { kind: "done", rejected: 1 }],
  ["failed", ["a.csv", "a.csv.txt"], { kind: "failed", reason: "It is a picture." }],
] as const)("a folder %s that becomes a link during the import receives nothing", async (own, files, outcome) => {
  const inbox = anInbox(() => {
    if (inbox.taken.length === 1) symlinkSync("../acme-2", inbox.path(`acme/${own}`));
    return outcome;
  });
  mkdirSync(inbox.path("acme-2"));
  inbox.drop("acme/a.csv");
  await inbox.lookAfter(0, 1, 2, 3, 4);
  expect([inbox.in("acme-2"), inbox.taken.length]).toEqual([[], 1]);
  rmSync(inbox.path(`acme/${own}`));
  await inbox.lookAfter(1);
  expect([inbox.in(`acme/${own}`), inbox.taken.length]).toEqual([[...files], 1]);
});

test("the text that says why is never written through a link", async () => {
  const inbox = anInbox(() => ({ kind: "failed", reason: "It is a picture." }));
  mkdirSync(inbox.path("acme/failed"));
  symlinkSync("../../planted", inbox.path("acme/failed/a.csv.txt"));
  inbox.drop("acme/a.csv");
  await inbox.lookAfter(0, 2);
  expect(existsSync(inbox.path("planted"))).toBe(false);
  expect(inbox.in("acme/failed")).toEqual(["a-2.csv", "a-2.csv.txt", "a.csv.txt"]);
});

test("a dropped file is read, but no link and no pipe in its place", async () => {
  const folder = aFolder();
  writeFileSync(join(folder, "leads.csv"), "email\n");
  symlinkSync("leads.csv", join(folder, "link.csv"));
  Bun.spawnSync(["mkfifo", join(folder, "pipe.csv")]);
  const read = async (name: string) => Array.fromAsync(openSource(join(folder, name), noInput, true).chunks);
  expect(Buffer.concat(await read("leads.csv")).toString()).toBe("email\n");
  for (const name of ["link.csv", "pipe.csv"]) expect(read(name)).rejects.toThrow(name);
});

const descriptors = "/proc/self/fd";

needing(descriptors)("a file that is refused or damaged is closed, wherever it was refused", async () => {
  const large = `email\0\n${"d@example.com\n".repeat(100_000)}`;
  const contents = [
    "%PDF-1.7 of sixteen bytes",
    'email,"city\n',
    large,
    gzipSync(large),
    gzipSync(large).subarray(0, 300),
  ];
  const folder = aFolder();
  const openBefore = readdirSync(descriptors).length;
  for (const [place, content] of contents.entries()) {
    const path = join(folder, `${place}.csv`);
    writeFileSync(path, content);
    const source = openSource(path, noInput, true);
    const columns = new Columns(readMapping(null));
    const refused = openRows(
      toText(source.chunks, () => {}),
      columns,
    ).then(({ groups }) => Array.fromAsync(groups));
    await expect(refused).rejects.toThrow();
    source.close();
  }
  await eventually(async () => expect(readdirSync(descriptors).length).toBeLessThanOrEqual(openBefore));
});

test("rejected rows of a dropped file are written to a new file, never through a link of its name", () => {
  const folder = aFolder();
  const [draft, precious] = [join(folder, ".rejected-a.csv"), join(folder, "leadfile.db")];
  writeFileSync(precious, "all leads");
  symlinkSync(precious, draft);
  const row = { line: 2, reason: "it has no pixel", source: ["d@example.com"] };
  writeRejects(draft, [row], { kind: "csv", delimiter: "," }, ["email"], true);
  expect(readFileSync(precious, "utf8")).toBe("all leads");
  renameSync(draft, join(folder, "rejected.csv"));
  expect(readFileSync(join(folder, "rejected.csv"), "utf8")).toContain("d@example.com,2,it has no pixel");
});
