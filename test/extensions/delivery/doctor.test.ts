/** The doctor and /metrics on what comes in by itself: imports, the inbox, and what vendors have delivered. */
import { describe, expect, test } from "bun:test";
import { mkdirSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { dayMs } from "../../../src/contract/calendar.ts";
import { anAdmin } from "../../support/admin.ts";
import { aHealthy, change, examine } from "../../support/doctor.ts";
import { aFolder } from "../../support/folder.ts";
import { start } from "../../support/process.ts";

const makeOld = `UPDATE imports SET finished_at = finished_at - ${4 * dayMs}`;

/** A healthy file with an inbox that nobody imports. */
const anUnwatchedInbox = (nowMs: number | null = null) => aHealthy({ INBOX: "inbox" }, nowMs);

describe("worth a look, with status 1", () => {
  test("deliveries that stopped arriving", async () => {
    const admin = await aHealthy();
    change(admin, makeOld);
    expect(await admin.run("doctor")).toMatchObject({ status: 0, stdout: expect.stringMatching(/^fine +imports /m) });
    const { id } = (await admin.run("source", "create", "acme", "--json")).json;
    expect(await examine(admin)).toMatchObject({
      status: 1,
      said: expect.stringMatching(/^No lead .* acme \(.*Z\)\.$/),
    });
    await admin.run("source", "revoke", id, "--yes");
    expect((await examine(admin)).status).toBe(0);
  });

  test("an account whose inbox stopped while another one continues", async () => {
    const inbox = aFolder();
    const admin = await aHealthy({ INBOX: inbox });
    change(admin, makeOld);
    await admin.run("account", "create", "busy");
    const lead = "email,identified_at\nb@example.com,2026-01-01T00:00:00Z\n";
    await admin.give(lead, "lead", "import", "busy", "-", "--pixel", "px", "--create-pixels");
    mkdirSync(join(inbox, "busy"));
    expect((await examine(admin)).status).toBe(0);
    mkdirSync(join(inbox, "acme"));
    expect(await examine(admin)).toMatchObject({ status: 1, said: expect.stringMatching(/: acme \(.*Z\)\.$/) });
  });

  test("deliveries pending for long, but not those of this minute", async () => {
    const admin = await aHealthy();
    const file = admin.put("leadfile.db.spool/src_1/1.ndjson", "{}\n");
    expect((await examine(admin)).status).toBe(0);
    utimesSync(file, 0, 0);
    const said = "3 bytes of deliveries are pending, the oldest since 1970-01-01T00:00:00.000Z.";
    expect(await examine(admin)).toMatchObject({ status: 1, said });
  });

  test("files in failed/, of the inbox and of deliveries", async () => {
    const admin = await anUnwatchedInbox();
    for (const name of ["a.csv", "a.csv.txt", "b.txt", "b.txt.txt", "gone.csv.txt"])
      admin.put(`inbox/acme/failed/${name}`, "");
    admin.put("leadfile.db.spool/src_1/failed/1.ndjson", "{}\n");
    const { status, said } = await examine(admin);
    expect(status).toBe(1);
    expect(said.replaceAll(/since \d\S+Z/g, "since then").split("\n")).toEqual([
      `Files that could not be read: 2 in inbox/acme/failed, since then.`,
      `Files that could not be read: 1 in ${admin.file}.spool/src_1/failed, since then.`,
    ]);
  });
});

describe("an inbox gives a warning", () => {
  const waiting = /^1 file in .*: waiting, the oldest since .*Z\.$/;

  test.each([
    ["it has rejected rows", { "acme/rejected/a.csv": "email,reject_line\n1,2\n3,4\n" }, /^Rejected rows: 2 in .*Z\.$/],
    ["a file is in no folder", { "a.csv": "email\n" }, waiting],
    ["files wait in a folder of no account", { "acmee/a.csv": "email\n" }, waiting],
    ["files wait next to a broken import.json", { "acme/a.csv": "email\n", "acme/import.json": "{" }, waiting],
  ])("while %s", async (_, files, what) => {
    const admin = await anUnwatchedInbox();
    for (const [name, text] of Object.entries(files)) admin.put(`inbox/${name}`, text);
    expect(await examine(admin)).toMatchObject({ status: 1, said: expect.stringMatching(what) });
  });

  test("while a file that was created long ago is still written to", async () => {
    const nowMs = Date.now() + 3_600_000;
    const admin = await anUnwatchedInbox(nowMs);
    const file = admin.put("inbox/acme/a.csv", "email\n");
    utimesSync(file, nowMs / 1000, nowMs / 1000);
    // Some file systems do not know when a file was created.
    expect((await examine(admin)).status).toBe(statSync(file).birthtimeMs === 0 ? 0 : 1);
  });

  test("while files of an account have waited for long", async () => {
    const admin = await anUnwatchedInbox();
    const file = admin.put("inbox/acme/a.csv", "email\n");
    expect((await examine(admin)).status).toBe(0);
    utimesSync(file, 0, 0);
    expect((await examine(admin)).status).toBe(1);
  });
});

test("a missing inbox is broken, with status 2", async () => {
  const admin = await aHealthy({ INBOX: "/nowhere/inbox" });
  expect(await examine(admin)).toMatchObject({ status: 2, said: expect.stringContaining("/nowhere/inbox") });
});

test("/metrics reports pending files and files that failed", async () => {
  const admin = anAdmin();
  const metrics = async (url: string) => (await fetch(`${url}/metrics`)).text();
  const inbox = join(admin.folder, "inbox");
  mkdirSync(inbox);
  const settings = { DATABASE_PATH: admin.file, INBOX: inbox, LOG_LEVEL: "silent" };
  const url = await start(settings, admin.folder).listening();
  expect(await metrics(url)).toMatch(/^leadfile_spool_bytes 0$/m);
  admin.put("leadfile.db.spool/src_1/1.part", "{}\n");
  admin.put("leadfile.db.spool/src_1/failed/2.ndjson", "{}\n");
  admin.put("inbox/acme/failed/a.csv", "");
  admin.put("inbox/acme/failed/a.csv.txt", "It is empty.\n");
  const after = await metrics(url);
  expect(after).toMatch(/^leadfile_spool_bytes 3$/m);
  expect(after).toMatch(/^leadfile_failed_files 2$/m);
  admin.put("inbox/nobody/b.csv", "email\n");
  admin.put("inbox/acme/rejected/a.csv", "email,reject_line,reject_reason\nx,2,why\n");
  const late = await metrics(url);
  for (const name of ["waiting_files", "rejected_rows"]) expect(late).toContain(`\nleadfile_${name} 1\n`);
  for (const name of ["waiting", "failed", "rejected"])
    expect(late).toMatch(RegExp(`^leadfile_${name}_age_seconds \\d`, "m"));
});
