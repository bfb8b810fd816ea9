/** Daily backups of a running server: when they are made, what is kept, and that nothing half is ever listed. */
import { expect, onTestFinished, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generateIdentity, identityToRecipient } from "age-encryption";
import { keepDaily, rotate } from "../../../extensions/upkeep/daily.ts";
import { backupName, openPlace } from "../../../src/backup/places.ts";
import { dayMs } from "../../../src/contract/calendar.ts";
import { at as atTime, backUp, header, printed, rows, withPlace } from "../../backup/restore/a-backup.ts";
import { type Admin, anAdmin } from "../../support/admin.ts";
import { until } from "../../support/eventually.ts";
import { start } from "../../support/process.ts";

const hourMs = 3_600_000;
const at = { hour: 3, minute: 15 };
const local = (text: string) => new Date(text).getTime();

/** The times of the backups that a schedule makes within some hours, from a time on. */
async function timesOf(
  startMs: number,
  hours: number,
  lastMs: number | null,
  fails: (attempt: number) => boolean = () => false,
  takesMs = 0,
) {
  let nowMs = startMs;
  const times: number[] = [];
  const reported: unknown[] = [];
  const fullDisk = new Error("the disk is full");
  await keepDaily({
    at,
    now: () => nowMs,
    async pause(ms) {
      nowMs += Math.max(ms, 1);
      return nowMs > startMs + hours * hourMs;
    },
    lastMs: async () => lastMs,
    async run() {
      times.push(nowMs);
      nowMs += takesMs;
      if (fails(times.length)) throw fullDisk;
    },
    onFailure: (cause) => reported.push(cause),
  });
  // Nothing else would say that a backup was not made.
  expect(reported).toEqual(times.filter((_, place) => fails(place + 1)).map(() => fullDisk));
  return times;
}

const noon = local("2026-05-20T12:00:00");
const lastNight = local("2026-05-19T03:15:00");
const late = local("2026-05-19T04:30:00");

const today = lastNight + dayMs;

test.each<[when: string, startMs: number, hours: number, lastMs: number | null, expected: number[]]>([
  ["makes one each day at BACKUP_AT", noon, 48, noon - hourMs, [today + dayMs, today + 2 * dayMs]],
  ["makes one at start if there is none", noon, 1, null, [noon]],
  ["makes one at start if the last one is older than 25 hours", noon, 1, noon - 25 * hourMs - 1, [noon]],
  ["makes none at start if the last one is younger", noon, 1, noon - 23 * hourMs, []],
  ["makes one at start if a restart has just missed it", today + 60_000, 1, lastNight, [today + 60_000]],
  ["makes none at start if it was made before the restart", today + 60_000, 1, today, []],
  ["makes one at BACKUP_AT after a restart just before it", today - 60_000, 1, lastNight, [today]],
  [
    "makes one when the last one becomes older than 25 hours, if the server was down at BACKUP_AT",
    local("2026-05-20T05:00:00"),
    24,
    late,
    [late + 25 * hourMs + 1, today + dayMs],
  ],
])("the schedule of backups %s", async (_, startMs, hours, lastMs, expected) => {
  expect(await timesOf(startMs, hours, lastMs)).toEqual(expected);
});

test("a backup that is under way at BACKUP_AT does not replace that of the day", async () => {
  const from = local("2026-05-20T03:00:00");
  const tookMs = 0.5 * hourMs;
  expect(await timesOf(from, 2, null, () => false, tookMs)).toEqual([from, from + tookMs + 1]);
});

test("retries a failed backup within an hour", async () => {
  const times = await timesOf(noon, 1, null, (attempt) => attempt < 3);
  expect(times.map((ms) => (ms - noon) / 60_000)).toEqual([0, 15, 30]);
});

test.each(["2026-03-28", "2026-03-29", "2026-10-25", "2026-12-31"])(
  "the backup after that of %s is made at the same local time, also if clocks change",
  async (day) => {
    const times = await timesOf(local(`${day}T04:00:00`), 25, local(`${day}T03:15:00`));
    expect(times.map((ms) => [new Date(ms).getHours(), new Date(ms).getMinutes()])).toEqual([[3, 15]]);
  },
);

test.each(["list", "upload"])(
  "watch ends promptly at a signal while an object store does not answer its %s",
  async (what) => {
    let isReached = false;
    const hangs = new Promise<Response>(() => {});
    const store = Bun.serve({
      port: 0,
      fetch({ method }) {
        const isListed = method === "GET" && what === "upload";
        if (isListed) return new Response("<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>");
        isReached = true;
        return hangs;
      },
    });
    onTestFinished(() => store.stop(true));
    const admin = anAdmin(["acme"], {
      BACKUP_TO: "s3://leads/place",
      BACKUP_RECIPIENT: await identityToRecipient(await generateIdentity()),
      AWS_ENDPOINT_URL: store.url.origin,
      AWS_ACCESS_KEY_ID: "key",
      AWS_SECRET_ACCESS_KEY: "secret",
    });
    const watch = admin.start("watch");
    await until(() => isReached);
    // The requests would wait for their answer longer than this test may take.
    expect([await watch.end(), watch.output(), watch.errors()]).toEqual([0, "", ""]);
    expect(readdirSync(admin.folder).filter((name) => name.includes("draft"))).toEqual([]);
  },
);

interface Listed {
  readonly file: string;
  readonly leads: number;
}
const listed = (admin: Admin, place: string): Promise<Listed[]> => printed(admin, "backup", "list", place);

/** Starts a server that keeps backups, and waits until something holds. */
async function serveUntil(holds: () => boolean | Promise<boolean>, admin: Admin, settings: Record<string, string>) {
  const server = start({ DATABASE_PATH: admin.file, ...settings }, admin.folder);
  await server.listening();
  await until(holds);
  return async () => expect(await server.end("SIGTERM")).toBe(0);
}

test("a running server stores a verified backup, pings, and deletes all but the newest, and an old copy that it can delete", async () => {
  const { admin, place } = withPlace();
  await admin.import(header + rows(0, 1));
  for (const day of ["01", "02", "03"]) {
    const old = atTime(Date.parse(`2026-05-${day}T03:15:00Z`), admin);
    await backUp(old, join(place, `leadfile-202605${day}T031500Z.db`));
  }
  const undeletable = `${admin.file}.before-0.0.1`;
  mkdirSync(undeletable);
  utimesSync(undeletable, 0, 0);
  let pings = 0;
  const pinged = Bun.serve({ port: 0, fetch: () => new Response(String(++pings)) });
  onTestFinished(() => pinged.stop(true));
  const settings = { BACKUP_TO: place, BACKUP_KEEP: "2", ALERT_PING_URL: pinged.url.href };
  const end = await serveUntil(() => pings === 1, admin, settings);
  expect(await listed(admin, place)).toMatchObject([
    {
      ...{ file: expect.stringMatching(/leadfile-\d{8}T\d{6}Z\.db$/), made_at: expect.any(String) },
      ...{ bytes: expect.any(Number), leads: 1, encrypted: false },
    },
    { file: join(place, "leadfile-20260503T031500Z.db"), made_at: "2026-05-03T03:15:00.000Z" },
  ]);
  expect(readdirSync(place)).toHaveLength(4);
  await end();
});

test("a first start sends no alert about a backup that it is just making", async () => {
  const admin = anAdmin();
  await admin.import("date,pixel_id,email\n2026-01-31,px,d1@example.com\n");
  const place = join(admin.folder, "backups");
  mkdirSync(place);
  // Another finding, which is sent after those about backups.
  chmodSync(admin.folder, 0o777);
  const sent: string[] = [];
  const receiver = Bun.serve({
    port: 0,
    async fetch(request) {
      sent.push(JSON.parse(await request.text()).what);
      return new Response();
    },
  });
  onTestFinished(() => receiver.stop(true));
  const settings = { DATABASE_PATH: admin.file, BACKUP_TO: place, ALERT_URL: receiver.url.href };
  // As a child of the server it has a low priority, and the alerts would not wait so long next to other tests.
  const watch = anAdmin([], settings).start("watch");
  await until(() => sent.some((what) => what.includes("Other users can replace files")));
  expect(sent.filter((what) => what.includes("backup"))).toEqual([]);
  expect(await watch.end()).toBe(0);
});

test("a server deletes the old backups that a stopped one has left, although no backup is due", async () => {
  const { admin, place } = withPlace();
  const files = [20 * hourMs, 0].map((ageMs) => join(place, backupName(Date.now() - ageMs)));
  for (const file of files) await backUp(admin, file);
  const settings = { BACKUP_TO: place, BACKUP_KEEP: "1" };
  const end = await serveUntil(() => readdirSync(place).length === 2, admin, settings);
  expect(await listed(admin, place)).toMatchObject([{ file: files[1] }]);
  await end();
});

test("a backup that a clock ahead of time has dated in the future is rotated first", async () => {
  const { admin, place } = withPlace();
  const made = await backUp(admin, join(place, "leadfile-20260501T031500Z.db"));
  const ahead = atTime(Date.parse("2099-05-01T03:15:00Z"), admin);
  const file = await backUp(ahead, join(place, "leadfile-20990501T031500Z.db"));
  expect(await rotate(openPlace(place, null), 1, admin.file, Date.now())).toEqual([file]);
  expect(await listed(admin, place)).toMatchObject([{ file: made }]);
});

test("half of a backup is not listed, and is deleted by the rotation after the backups of its time", async () => {
  const { admin, place } = withPlace();
  const nowMs = Date.now();
  const [old = "", file = "", recent = ""] = [-dayMs, 0, dayMs].map((ms) => join(place, backupName(nowMs + ms)));
  await admin.run("backup", file);
  expect(await listed(admin, place)).toHaveLength(1);
  expect((await admin.run("restore", place, "--dry-run")).status).toBe(0);
  for (const path of [old, recent]) writeFileSync(path, "the first half");
  expect(await listed(admin, place)).toHaveLength(1);
  const rotated = (keep: number) => rotate(openPlace(place, null), keep, admin.file, Date.now());
  expect(await rotated(2)).toEqual([]);
  expect(await rotated(1)).toEqual([old]);
  rmSync(`${file}.manifest.json`);
  // Nothing that was copied without manifests is deleted.
  expect(await rotated(1)).toEqual([]);
  expect(await listed(admin, place)).toEqual([]);
  expect((await admin.run("restore", place)).stderr).toStartWith(`There are no backups in ${place}.`);
});

test.each([
  [["backup", "list"], "BACKUP_TO is not set."],
  [["watch"], "Neither BACKUP_TO nor ALERT_URL is set."],
  [["backup", "s3://bucket/prefix"], "AWS_ACCESS_KEY_ID is not set."],
  [["backup", "--drill", "x.db.age"], "To test it, run: bun admin restore x.db.age --identity FILE --dry-run"],
])("rejects %p without its settings and names them", async (words, says) => {
  const { status, stderr } = await anAdmin().run(...words);
  expect([status, stderr]).toEqual([2, expect.stringContaining(says)]);
});

test("an erasure says which stored backups may still hold the person, and until when", async () => {
  const { admin, place } = withPlace();
  await admin.import(header + rows(1, 2));
  await backUp(admin, join(place, "leadfile-20260503T031500Z.db"));
  const set = anAdmin([], { DATABASE_PATH: admin.file, BACKUP_TO: place, BACKUP_KEEP: "3" });
  const { stderr } = await set.run("lead", "erase", "acme", "--email", "d1@example.com");
  const until = new Date(Date.now() + 3 * 24 * hourMs).toISOString().slice(0, 10);
  expect(stderr).toContain(`1 backup in ${place} may still contain the erased data`);
  expect(stderr).toContain(`by ${until}.`);
});

test("an erasure says so if it cannot list the stored backups, whatever the reason", async () => {
  const { admin } = withPlace();
  await admin.import(header + rows(1, 2));
  const file = admin.put("file", "not a folder");
  for (const place of [file, join(file, "below")]) {
    const set = anAdmin([], { DATABASE_PATH: admin.file, BACKUP_TO: place });
    const ended = await set.run("lead", "erase", "acme", "--email", "d1@example.com");
    expect([ended.status, ended.stderr]).toEqual([
      0,
      expect.stringMatching(/^The backups could not be listed: .*file/m),
    ]);
  }
});
