/** The inbox and users who may write into its folders: a link that appears during an import leads nothing elsewhere. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeRejects } from "../../../../src/import/parse/rejects.ts";
import { openSource } from "../../../../src/import/parse/source.ts";
import { aFolder } from "../../../support/folder.ts";
import { anInbox } from "./an-inbox.ts";

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
  expect(inbox.said).toContain("acme/b.csv: it is a link; put the file itself in its place.");
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
