/** The inbox: complete files are imported and moved; half-copied ones are never touched. */
import { expect, test } from "bun:test";
import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { anInbox } from "./an-inbox.ts";

test("a file that was written long ago is imported and moved to done/ when it was unchanged for two seconds", async () => {
  const inbox = anInbox();
  inbox.drop("acme/a.csv");
  expect(await inbox.lookAfter(0)).toBe(1);
  expect(await inbox.lookAfter(1.9)).toBe(1);
  expect(inbox.taken).toEqual([]);
  await inbox.lookAfter(0.1);
  expect(inbox.taken.map(({ file }) => file)).toEqual(["acme/a.csv"]);
  expect(inbox.in("acme")).toEqual(["done"]);
  expect(inbox.in("acme/done")).toEqual(["a.csv"]);
});

test("an upload that stalls again and again is imported once, when it was still for 30 seconds", async () => {
  const inbox = anInbox();
  for (let row = 0; row < 7; row++) {
    inbox.upload("acme/a.csv", `${row}@example.com\n`);
    await inbox.lookAfter(0, 10, 10, 9);
  }
  expect(inbox.taken).toEqual([]);
  await inbox.lookAfter(1);
  expect([inbox.taken.length, inbox.in("acme/done")]).toEqual([1, ["a.csv"]]);
});

test("an upload whose time is in the future is imported when it was seen unchanged for 30 seconds", async () => {
  const inbox = anInbox();
  inbox.drop("acme/a.csv");
  utimesSync(inbox.path("acme/a.csv"), 4e9, 4e9);
  await inbox.lookAfter(0, 29);
  expect(inbox.taken).toEqual([]);
  await inbox.lookAfter(1);
  expect(inbox.taken).toHaveLength(1);
});

test("a clock that goes back by an hour delays a file by two seconds, not by an hour", async () => {
  const inbox = anInbox();
  inbox.drop("acme/a.csv");
  await inbox.lookAfter(0, -3600, 2);
  expect(inbox.in("acme/done")).toEqual(["a.csv"]);
});

test("copies under way, backups of editors, hidden files, options, and own folders are not imported", async () => {
  const inbox = anInbox();
  for (const name of ["done", "rejected", "failed", ".hidden"]) mkdirSync(inbox.path(`acme/${name}`));
  for (const name of ["a.csv.part", "b.csv.tmp", ".hidden.csv", "import.json", "a.csv~", "a.csv.swp", "#a.csv#"])
    inbox.drop(`acme/${name}`, "{}");
  expect(await inbox.lookAfter(0)).toBe(0);
  await inbox.lookAfter(3);
  expect([inbox.taken, inbox.said, inbox.counted]).toEqual([[], [], []]);
});

function replace(path: string): void {
  writeFileSync(`${path}.new`, "email\nb@example.com\n");
  renameSync(`${path}.new`, path);
}

test.each([
  ["replaced", replace],
  ["continued", (path: string) => appendFileSync(path, "b@example.com\n")],
])("a file that is %s during its import is imported again", async (_, change) => {
  let isFirst = true;
  const inbox = anInbox((file) => {
    if (isFirst) change(inbox.path(file));
    isFirst = false;
    return { kind: "done", rejected: 1 };
  });
  inbox.drop("acme/a.csv");
  await inbox.lookAfter(0, 2);
  expect([inbox.in("acme"), inbox.said]).toEqual([["a.csv"], [expect.stringContaining("replaced while it was")]]);
  await inbox.lookAfter(2, 30);
  expect([inbox.taken.length, inbox.in("acme/done"), inbox.in("acme/rejected")]).toEqual([2, ["a.csv"], ["a.csv"]]);
  expect(readFileSync(inbox.path("acme/done/a.csv"), "utf8")).toContain("b@example.com");
});

test("a file that grows in done/ is imported again", async () => {
  const inbox = anInbox();
  inbox.drop("acme/a.csv", "email\na@exa");
  await inbox.lookAfter(0, 2);
  appendFileSync(inbox.path("acme/done/a.csv"), "mple.com\n");
  await inbox.lookAfter(1);
  expect([inbox.in("acme"), inbox.in("acme/done")]).toEqual([["a.csv", "done"], []]);
  expect(inbox.said.at(-1)).toContain("acme/a.csv: it changed after its import, and is imported again");
  await inbox.lookAfter(30);
  expect([inbox.taken.length, inbox.in("acme/done")]).toEqual([2, ["a.csv"]]);
});

test("a file that grows in done/ stays there while another file has its name", async () => {
  const inbox = anInbox();
  inbox.drop("acme/a.csv");
  await inbox.lookAfter(0, 2);
  appendFileSync(inbox.path("acme/done/a.csv"), "b@example.com\n");
  inbox.drop("acme/a.csv", "email\nc@example.com\n");
  await inbox.lookAfter(1, 2, 1, 30);
  expect([inbox.taken.length, inbox.in("acme/done")]).toEqual([3, ["a-2.csv", "a.csv"]]);
});

test("a replaced or unchanged file in done/ stays there", async () => {
  const inbox = anInbox();
  for (const name of ["a.csv", "b.csv"]) inbox.drop(`acme/${name}`);
  await inbox.lookAfter(0, 2);
  writeFileSync(inbox.path("acme/done/new"), "email\na@example.com\nb@example.com\n");
  renameSync(inbox.path("acme/done/new"), inbox.path("acme/done/a.csv"));
  await inbox.lookAfter(1, 2);
  expect([inbox.taken.length, inbox.in("acme/done")]).toEqual([2, ["a.csv", "b.csv"]]);
});

/** An inbox with a file, on a disk that is full until there is room. */
function onAFullDisk() {
  let isFull = true;
  const inbox = anInbox(() =>
    isFull ? { kind: "later", reason: "The disk is full." } : { kind: "done", rejected: 0 },
  );
  inbox.drop("acme/a.csv");
  const makeRoom = () => {
    isFull = false;
  };
  return { ...inbox, makeRoom };
}

test("while the disk is full, one file is tried less and less often, and it is reported once", async () => {
  const inbox = onAFullDisk();
  inbox.drop("acme/b.csv");
  for (let second = 0; second < 600; second++) await inbox.lookAfter(1);
  expect(inbox.taken.length).toBeWithin(10, 20);
  expect(inbox.said).toEqual(["acme/a.csv: it is tried again within a minute: The disk is full."]);
  inbox.makeRoom();
  await inbox.lookAfter(60);
  expect(inbox.in("acme/done")).toEqual(["a.csv", "b.csv"]);
});

test("a clock that goes back by an hour delays no try by an hour", async () => {
  const inbox = onAFullDisk();
  await inbox.lookAfter(0, 2);
  inbox.makeRoom();
  await inbox.lookAfter(-3600, 2);
  expect(inbox.in("acme/done")).toEqual(["a.csv"]);
});

test("a folder without an account is reported once, and its files stay pending until the account exists", async () => {
  const inbox = anInbox();
  mkdirSync(inbox.path("acmee"));
  inbox.drop("acmee/a.csv");
  await inbox.lookAfter(0, 1, 2, 3, 4);
  expect(inbox.said).toEqual([expect.stringContaining("no account")]);
  expect(inbox.in("acmee")).toEqual(["a.csv"]);
  renameSync(inbox.path("acmee/a.csv"), inbox.path("acme/a.csv"));
  await inbox.lookAfter(1, 2);
  expect(inbox.in("acme/done")).toEqual(["a.csv"]);
});

test("import.json says how the files of a folder are read, also with a byte order mark", async () => {
  const inbox = anInbox();
  inbox.drop("acme/import.json", `\ufeff{"pixel":"px_shop","timezone":"America/New_York"}`);
  inbox.drop("acme/a.csv");
  await inbox.lookAfter(0, 2);
  expect(inbox.taken).toEqual([{ file: "acme/a.csv", settings: { pixel: "px_shop", timezone: "America/New_York" } }]);
});

test("a file that is corrected in failed/ is imported again", async () => {
  const inbox = anInbox((file) => {
    const isWhole = readFileSync(inbox.path(file), "utf8").includes("@");
    return isWhole ? { kind: "done", rejected: 0 } : { kind: "failed", reason: "It is cut off." };
  });
  inbox.drop("acme/a.csv", "email\n");
  await inbox.lookAfter(0, 2);
  expect(inbox.in("acme/failed")).toEqual(["a.csv", "a.csv.txt"]);
  appendFileSync(inbox.path("acme/failed/a.csv"), "a@example.com\n");
  await inbox.lookAfter(1, 2, 30);
  expect([inbox.in("acme/done"), inbox.in("acme/failed")]).toEqual([["a.csv"], ["a.csv.txt"]]);
});

test("files of all folders are imported in turn", async () => {
  const inbox = anInbox();
  mkdirSync(inbox.path("acme2"));
  for (const name of ["acme/a.csv", "acme/b.csv", "acme/c.csv", "acme2/a.csv"]) inbox.drop(name);
  await inbox.lookAfter(0, 2);
  const [first, second, ...rest] = inbox.taken.map(({ file }) => file);
  expect([first, second].toSorted()).toEqual(["acme/a.csv", "acme2/a.csv"]);
  expect(rest).toEqual(["acme/b.csv", "acme/c.csv"]);
});

test("files in done/ and rejected/ are deleted after 30 days, however old the upload was", async () => {
  const inbox = anInbox(() => ({ kind: "done", rejected: 1 }));
  inbox.drop("acme/a.csv");
  utimesSync(inbox.path("acme/a.csv"), 0, 0);
  await inbox.lookAfter(0, 2);
  mkdirSync(inbox.path("acme/failed"), { recursive: true });
  inbox.drop("acme/failed/b.csv");
  await inbox.lookAfter(29 * 86_400);
  expect([inbox.in("acme/done"), inbox.in("acme/rejected")]).toEqual([["a.csv"], ["a.csv"]]);
  await inbox.lookAfter(2 * 86_400);
  expect([inbox.in("acme/done"), inbox.in("acme/rejected"), inbox.in("acme/failed")]).toEqual([[], [], ["b.csv"]]);
});

test("a remark on a file is repeated when the file comes back", async () => {
  const inbox = anInbox();
  for (let time = 0; time < 2; time++) {
    mkdirSync(inbox.path("acme/2026"));
    await inbox.lookAfter(0, 1);
    rmSync(inbox.path("acme/2026"), { recursive: true });
    await inbox.lookAfter(1);
  }
  expect(inbox.said).toHaveLength(2);
});

test("20,000 pending files take less than 50 ms per second", async () => {
  const inbox = anInbox(() => ({ kind: "later", reason: "The disk is full." }));
  for (let file = 0; file < 20_000; file++) inbox.drop(`acme/${file}.csv`, "");
  await inbox.lookAfter(0, 2, 1);
  const before = process.cpuUsage();
  for (let second = 0; second < 10; second++) await inbox.lookAfter(0.01);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 10 / 1000).toBeLessThan(50);
});
