/** bun admin doctor: it finds each problem, says what to do, and changes nothing. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  linkSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { dayMs, dayOf } from "../../src/contract/calendar.ts";
import { type Admin, anAdmin } from "../support/admin.ts";
import { aCertificate } from "../support/certificate.ts";
import { aHealthy, change, examine } from "../support/doctor.ts";
import { aFreePort } from "../support/free-port.ts";
import { needing } from "../support/needing.ts";
import { start } from "../support/process.ts";
import { aSmallDisk, fill } from "../support/small-disk.ts";

function overwrite(file: string, from: number, length: number): void {
  writeFileSync(file, readFileSync(file).fill(0xa5, from, from + length));
}

/** Opens the file as a server does, so that it has a log, until the test ends. */
function openedBy({ file }: Admin): Disposable {
  const database = new Database(file);
  database.run("UPDATE accounts SET name = name");
  return database;
}

const inDays = (days: number) => Date.now() + days * dayMs;
const anotherKey = (label: string, expiresMs: number | null) =>
  `INSERT INTO keys (number, account, id, digest, prefix, label, created_at, expires_at)
   SELECT max(number) + 1, account, 'key_' || (max(number) + 1), randomblob(32), prefix, '${label}', created_at, ${expiresMs} FROM keys`;

test.each([[], ["--full"]])("a healthy file has no findings with %p", async (...options) => {
  const admin = await aHealthy();
  expect(await examine(admin, ...options)).toMatchObject({ status: 0, findings: [] });
  // test/ops/operations.test.ts knows the names of the checks.
  const { stdout } = await admin.run("doctor", ...options);
  expect(stdout).toMatch(/^(?:fine +\w+ .+\n)+\nAll is well\.\n$/);
  expect(stdout).toMatch(/^fine +log +The write-ahead log is empty\.$/m);
});

describe("a file that cannot be used is broken, with status 2:", () => {
  const migrations = "__drizzle_migrations";
  test.each<[name: string, breakIt: (admin: Admin) => void, says: RegExp]>([
    ["missing", ({ file }) => rmSync(file), /^There is no database at/],
    ["a folder", ({ folder, file }) => renameSync(file, join(folder, "x")), /^There is no database at/],
    ["not a database", ({ file }) => writeFileSync(file, "Notes, and no database."), /is not a database/],
    ["truncated", ({ file }) => truncateSync(file, 50_000), /damaged/],
    ["without its first page", ({ file }) => overwrite(file, 100, 4_000), /damaged/],
    ["with a page of noise", ({ file }) => overwrite(file, 8_192 * 5, 8_192), /damaged/],
    ["of another program", (admin) => [rmSync(admin.file), change(admin, "CREATE TABLE x (y)")], /another program/],
    [
      "of a newer version",
      (admin) => change(admin, `INSERT INTO ${migrations} (hash, created_at) VALUES ('x', 9999999999999)`),
      /newer than this version/,
    ],
    [
      "of another build",
      (admin) => change(admin, `UPDATE ${migrations} SET created_at = created_at - 1, hash = 'x'`),
      /another build/,
    ],
    ["without an index", (admin) => change(admin, "DROP INDEX leads_by_state"), /lacks leads_by_state/],
  ])("%s", async (_, breakIt, says) => {
    const admin = await aHealthy();
    breakIt(admin);
    const { status, findings, said } = await examine(admin);
    expect([status, findings[0]?.level, findings[0]?.what]).toEqual([2, "broken", expect.stringMatching(says)]);
    // Damage may show values of leads.
    expect(said).not.toContain("v@example.com");
  });
});

describe("the status is 1 for a warning, and 0 for none:", () => {
  const expired = `UPDATE keys SET expires_at = ${dayMs}`;
  const idle = "UPDATE keys SET created_at = 0";
  const keysFor = (...days: number[]) => days.map((count, place) => anotherKey(`key ${place}`, inDays(count)));
  test.each<[name: string, statements: string[], status: number, says: RegExp]>([
    ["a key not used for 90 days", [idle], 1, /^Keys that were not used for 90 days: key_\w+ of acc_\w+\.$/],
    ["an old key used today", [idle, `INSERT INTO usage VALUES (1, '${dayOf(Date.now())}', 1)`], 0, /^$/],
    ["an unused key that expired", [idle, expired], 0, /^$/],
    [
      "a key that expired, and was used six days ago",
      [`UPDATE keys SET expires_at = ${inDays(-2)}`, `INSERT INTO usage VALUES (1, '${dayOf(inDays(-6))}', 1)`],
      1,
      /^Keys that have expired and were used within 7 days: key_\w+ of acc_\w+\.$/,
    ],
    [
      "a key that expired, and was used two weeks ago",
      [`UPDATE keys SET expires_at = ${inDays(-2)}`, `INSERT INTO usage VALUES (1, '${dayOf(inDays(-14))}', 1)`],
      0,
      /^$/,
    ],
    [
      "a key that was rotated before it expired",
      [
        anotherKey("CRM", null),
        `UPDATE keys SET expires_at = ${inDays(-2)} WHERE number = 1`,
        `INSERT INTO usage VALUES (1, '${dayOf(inDays(-6))}', 1)`,
      ],
      0,
      /^$/,
    ],
    ["an unused key that was revoked", [idle, "UPDATE keys SET revoked_at = 1"], 0, /^$/],
    ["a key that expires in 15 days", [`UPDATE keys SET expires_at = ${inDays(15)}`], 0, /^$/],
    ["a key that expires in 13 days", [`UPDATE keys SET expires_at = ${inDays(13)}`], 1, /14 days: key_\w+ of acc_/],
    ["next to one with another label", [anotherKey("other", null), anotherKey("CRM", inDays(13))], 0, /^$/],
    ["alone with its label", [anotherKey("other", inDays(13))], 1, /14 days: key_2 of acc_/],
    [
      "many expiring keys, the next ones first",
      keysFor(9, 8, 7),
      1,
      /days: key_4 of \w+, key_3 of \w+, key_2 of \w+\.$/,
    ],
    ["more expiring keys than are named", keysFor(9, 9, 9, 9), 1, /, key_\d of acc_\w+ and 1 more\.$/],
    ["a lead after the clock", ["UPDATE stored_leads SET identified_at = 4102444800000"], 1, /^The clock says/],
    [
      "a lead after the clock, of an account",
      ["UPDATE stored_leads SET identified_at = 4102444800000"],
      1,
      /^The clock says .* is from 2100-01-01.* \(1 lead of acme\)\.$/,
    ],
    ["requests after the clock", ["INSERT INTO usage VALUES (1, '2100-01-01', 1)"], 1, /^The clock says/],
    ["an old backup", [`UPDATE audit SET at = at - ${4 * dayMs} WHERE act = 'backup'`], 1, /^The last backup was made/],
    ["leads without a backup", ["DELETE FROM audit"], 1, /^No backup has been made\.$/],
    ["no leads to back up", ["DELETE FROM audit", "DELETE FROM stored_leads"], 0, /^$/],
  ])("%s", async (_, statements, status, says) => {
    const admin = await aHealthy();
    change(admin, ...statements);
    expect(await examine(admin)).toMatchObject({ status, said: expect.stringMatching(says) });
  });
});

describe("retention that waits for a person is a warning", () => {
  const settings = ["UPDATE accounts SET retain_days = 30", "UPDATE stored_leads SET identified_at = 0"];
  test("if it would erase more than half of the leads of an account", async () => {
    const admin = await aHealthy();
    change(admin, ...settings);
    const { status, findings } = await examine(admin);
    expect([status, findings]).toEqual([
      1,
      [
        {
          level: "warning",
          what: "Retention would erase more than half of the leads of an account at once: 1 lead of acme is older than 30 days (of 1). They are kept.",
          advice: expect.stringMatching(
            /^Check the clock\. To erase the leads, repeat the retention: bun admin retain acc_\w+ --days 30$/,
          ),
        },
      ],
    ]);
  });

  test("from the first minute of a clock that is far ahead, whatever is done under it", async () => {
    const healthy = await aHealthy();
    change(healthy, ...settings);
    const nowMs = inDays(5 * 365);
    for (const act of [null, "key"]) {
      const admin = await aHealthy({}, nowMs);
      change(admin, ...settings);
      if (act !== null) await admin.run("key", "create", "acme");
      const { said, findings } = await examine(admin);
      expect(said).toMatch(
        /The clock says \d{4}-.*, but nothing was done in the 30 days before\. By this clock, 1 lead of acme is older/,
      );
      expect(findings.map(({ advice }) => advice).join("\n")).toMatch(
        /If it is right, repeat the retention: bun admin retain acc_\w+ --days 30/,
      );
    }
  });
});

describe("of the files of the database,", () => {
  test.each<[name: string, alter: (admin: Admin) => void, says: RegExp, advice: RegExp]>([
    ["a file that others can read", ({ file }) => chmodSync(file, 0o644), /mode 644/, /^chmod 600 .*leadfile\.db$/],
    ["a file with two names", ({ file, folder }) => linkSync(file, join(folder, "x")), /2 hard links/, /-samefile/],
    ["a folder that others can write", ({ folder }) => chmodSync(folder, 0o777), /can replace files/, /^chmod go-w/],
    ["an empty file", ({ file }) => writeFileSync(file, ""), /earlier version/, /backup/],
    ["a file of the future", ({ file }) => utimesSync(file, inDays(1) / 1000, inDays(1) / 1000), /^The clock/, /Set/],
  ])("%s is a warning", async (_, alter, says, advice) => {
    const admin = await aHealthy();
    alter(admin);
    const finding = { what: expect.stringMatching(says), advice: expect.stringMatching(advice) };
    expect(await examine(admin)).toMatchObject({ status: 1, findings: [{ level: "warning", ...finding }] });
  });

  test("a folder with the sticky bit, such as /tmp, is none, although others can write to it", async () => {
    const admin = await aHealthy();
    chmodSync(admin.folder, 0o1777);
    expect((await examine(admin)).status).toBe(0);
  });

  test("a log that others can read is a warning, and so is one that has grown", async () => {
    const admin = await aHealthy();
    using _ = openedBy(admin);
    for (const suffix of ["-wal", "-shm"]) {
      chmodSync(admin.file + suffix, 0o640);
      const findings = [{ level: "warning", advice: `chmod 600 ${admin.file}${suffix}` }];
      expect(await examine(admin)).toMatchObject({ status: 1, findings });
      chmodSync(admin.file + suffix, 0o600);
    }
    truncateSync(`${admin.file}-wal`, 300_000_000);
    const { status, stdout } = await admin.run("doctor", "--json");
    expect([status, stdout]).toEqual([1, expect.stringContaining("has grown to 300 MB")]);
  });

  test("a log that no program has copied into the file is a warning", async () => {
    const admin = await aHealthy();
    const copy = await aHealthy();
    using _ = openedBy(admin);
    for (const suffix of ["", "-wal"]) {
      copyFileSync(admin.file + suffix, copy.file + suffix);
      chmodSync(copy.file + suffix, 0o600);
    }
    expect(await examine(copy)).toMatchObject({ status: 1, said: expect.stringContaining("was not read") });
  });
});

test("an index that differs from its table is found with --full", async () => {
  const admin = await aHealthy();
  using database = new Database(admin.file, { readonly: true });
  const index = "SELECT rootpage AS page FROM sqlite_schema WHERE name = 'leads_by_state'";
  const page = database.query<{ page: number }, []>(index).get()?.page ?? 0;
  database.close();
  const bytes = readFileSync(admin.file);
  bytes.write("CB", bytes.indexOf("CA", (page - 1) * 8192));
  writeFileSync(admin.file, bytes);
  expect((await examine(admin)).status).toBe(0);
  expect((await examine(admin, "--full")).said).toMatch(/damaged: .*leads_by_state/);
});

test("a check that fails is a finding, and hides no other one", async () => {
  const admin = await aHealthy({ INBOX: "loop" });
  change(admin, "DELETE FROM audit");
  symlinkSync("loop", join(admin.folder, "loop"));
  const said = expect.stringMatching(/^No backup has been made\.\nA check failed \(.*ELOOP/);
  expect(await examine(admin)).toMatchObject({ status: 2, said });
});

describe("settings", () => {
  test("are all named if they are wrong, not only the first", async () => {
    const { status, said } = await examine(await aHealthy({ LOG_LEVEL: "loud", TRUST_PROXY: "yes", METRICS: "all" }));
    for (const name of ["LOG_LEVEL", "TRUST_PROXY", "METRICS"]) expect(said).toContain(`${name} is `);
    expect(status).toBe(2);
  });

  test.each<[Record<string, string>, number, string]>([
    [{ HOST: "0.0.0.0", BASE_URL: "https://www.leads.test" }, 1, "without TLS"],
    [{ TRUST_PROXY: "1" }, 1, "BASE_URL is not set"],
    [{ BASE_URL: "http://www.leads.test" }, 1, "unencrypted"],
    [{ TRUST_PROXY: "1", BASE_URL: "https://www.leads.test" }, 0, ""],
    [{ TRUST_PROXY: "1", BASE_URL: "https://www.example.com" }, 1, "which is an example"],
    [{ TRUST_PROXY: "1", BASE_URL: "https://leads.example.com" }, 1, "which is an example"],
    [{ TRUST_PROXY: "1", BASE_URL: "https://myexample.com" }, 0, ""],
  ])("%j have status %i", async (settings, status, says) => {
    expect(await examine(await aHealthy(settings))).toMatchObject({ status, said: expect.stringContaining(says) });
  });
});

needing("openssl").describe("a certificate", () => {
  const names = ["www.leads.test"];
  test.each([
    ["with months left", { days: 90, names }, null, 0, /^$/],
    ["that expires soon", { days: 20, names }, null, 1, /expires on \d{4}-\d\d-\d\d/],
    ["for another name", { days: 90 }, null, 2, /is not for www\.leads\.test/],
    ["that has expired", { days: 90, names }, inDays(91), 2, /TLS_CERT expired on \d{4}-\d\d-\d\d/],
    ["of tomorrow", { days: 90, names }, inDays(-1), 2, /is not valid yet/],
  ])("%s has the right status", async (_, options, nowMs, status, says) => {
    const { TLS_CERT, TLS_KEY } = aCertificate(options);
    const admin = await aHealthy({ TLS_CERT, TLS_KEY, BASE_URL: "https://www.leads.test" }, nowMs);
    expect(await examine(admin)).toMatchObject({ status, said: expect.stringMatching(says) });
  });

  test("that was renewed without a restart of the server is a warning", async () => {
    const [{ TLS_CERT, TLS_KEY }, renewed] = [aCertificate({ days: 90 }), aCertificate({ days: 90 })];
    const settings = { TLS_CERT, TLS_KEY, PORT: String(await aFreePort()) };
    const admin = await aHealthy(settings);
    await start({ ...settings, DATABASE_PATH: admin.file }).listening();
    expect((await examine(admin)).said).toBe("");
    copyFileSync(renewed.TLS_CERT, TLS_CERT);
    copyFileSync(renewed.TLS_KEY, TLS_KEY);
    const { status, said } = await examine(admin);
    expect([status, said]).toEqual([1, expect.stringMatching(/^The server still uses a certificate that expires on /)]);
  });
});

needing("/proc")("a server that was not restarted after its program was replaced is a warning", async () => {
  const PORT = String(await aFreePort());
  const admin = await aHealthy({ PORT });
  const program = join(admin.folder, "bun");
  copyFileSync(process.execPath, program);
  const main = join(import.meta.dir, "../../src/main.ts");
  const server = start({ DATABASE_PATH: admin.file, PORT }, admin.folder, [program, main]);
  await server.listening();
  expect((await admin.run("doctor")).stdout).not.toContain("was replaced");
  rmSync(program);
  const { findings } = JSON.parse((await admin.run("doctor", "--json")).stdout);
  expect(findings).toMatchObject([
    { level: "warning", what: `Process ${server.pid} runs a program that was replaced or deleted since it started.` },
  ]);
});

needing("root", "/proc")(
  "a file that root has made in the folder of another user is broken, with the command that changes it",
  async () => {
    const admin = await aHealthy();
    chownSync(admin.folder, 65_532, 65_532);
    const { status, stdout } = await admin.run("doctor", "--json");
    expect(status).toBe(2);
    expect(JSON.parse(stdout).findings).toMatchObject([
      {
        what: expect.stringContaining("belongs to root, and its folder to user 65532"),
        advice: `As root: chown 65532:65532 ${admin.file}`,
      },
    ]);
  },
);

needing("/proc")("a running server that has lost its file is found, whatever is in its place", async () => {
  const PORT = String(await aFreePort());
  const admin = await aHealthy({ PORT });
  const { file } = admin;
  await start({ DATABASE_PATH: file, PORT }, admin.folder).listening();
  // The log exists after the first write.
  await admin.run("pixel", "create", "acme", "--id", "px_2");
  expect(await examine(admin)).toMatchObject({ status: 0, said: "" });
  const { stdout } = await admin.run("doctor");
  expect(stdout).toMatch(/^fine +server +The server responds at http:\S+:\d+\.$/m);
  const loseFile: [how: () => void, says: RegExp][] = [
    // Moved away before a copy took its place, replaced by that copy, and deleted.
    [() => [renameSync(file, `${file}.old`), copyFileSync(`${file}.old`, file)], /Process \d+ uses a database file/],
    [() => rmSync(`${file}.old`), /Process \d+ uses a database file/],
    [() => rmSync(file), /Process \d+ uses a database file that was deleted/],
  ];
  for (const [lose, says] of loseFile) {
    lose();
    expect(await examine(admin)).toMatchObject({ status: 2, said: expect.stringMatching(says) });
  }
});

needing("mount").describe("a disk", () => {
  test.each([
    ["that is full is not taken for a damaged file", "size=2m", 2, /Only [^\n]+ free/],
    ["without space for a second file is a warning", "size=60m,mode=700", 1, /Only 6\d\.\d MB are free/],
  ])("%s", async (_, options, status, says) => {
    using disk = aSmallDisk(anAdmin([]).folder, options);
    const admin = anAdmin([], { DATABASE_PATH: join(disk.path, "leads.db"), PORT: String(await aFreePort()) });
    await admin.run("account", "create", "acme");
    if (status === 2) {
      fill(disk.path);
      // A program that found no space has left these.
      for (const suffix of ["-wal", "-shm"]) writeFileSync(join(disk.path, `leads.db${suffix}`), "");
    }
    const { stdout, status: ended } = await admin.run("doctor");
    expect([ended, stdout]).toEqual([status, expect.stringMatching(says)]);
    expect(stdout).not.toMatch(/damaged|Move it away/);
  });
});
