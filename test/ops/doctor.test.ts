/** bun admin doctor: what is wrong, what to do about it, and nothing changed by having looked. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { dayMs, dayOf } from "../../src/contract/time.ts";
import { type Admin, anAdmin } from "../admin.ts";
import { aCertificate, openssl } from "../certificate.ts";
import { start } from "../process.ts";
import { aFreePort } from "../proxy.ts";

// Only root may mount a disk that is full soon.
const mounts =
  Bun.spawnSync([
    "sh",
    "-c",
    "d=$(mktemp -d); mount -t tmpfs -o size=16k none $d && umount $d; e=$?; rmdir $d; exit $e",
  ]).exitCode === 0;

interface Finding {
  readonly level: "warning" | "broken";
  readonly what: string;
  readonly advice: string;
}

/** Runs the doctor and sees to it that the folder is as it was. */
async function examine(admin: Admin, ...options: readonly string[]) {
  // A connection of this process that is closed lets go of the file when it is collected.
  Bun.gc(true);
  const before = contentsOf(admin.folder);
  const ended = await admin.run("doctor", "--json", ...options);
  expect(contentsOf(admin.folder)).toEqual(before);
  expect(ended.stderr).toBe("");
  const { findings } = JSON.parse(ended.stdout) as { findings: Finding[] };
  for (const { what, advice } of findings) {
    expect(what).toMatch(/\.$/);
    expect(advice.length).toBeGreaterThan(5);
  }
  return { status: ended.status, findings, said: findings.map(({ what }) => what).join("\n") };
}

/** The database files of a folder and what is in them; readers leave marks in the index of a log. */
function contentsOf(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => name.includes(".db"));
  return names.toSorted().map((name) => {
    const bytes = name.endsWith("-shm") ? "" : readFileSync(join(folder, name));
    return `${name} ${new Bun.CryptoHasher("sha256").update(bytes).digest("hex")}`;
  });
}

/** A file with a lead, made by commands: what this process opened itself it lets go of only when it is collected. */
let made: Buffer | null = null;

async function aFile(): Promise<Buffer> {
  const admin = anAdmin([]);
  await admin.run("account", "create", "acme");
  await admin.import("email,state,identified_at,pixel_id\nv@example.com,CA,2026-01-01T00:00:00Z,px\n");
  await admin.run("backup", join(admin.folder, "copy.db"));
  return readFileSync(admin.file);
}

/** An instance that nobody has open, whose settings name a port that nobody listens on. */
async function aHealthy(settings: Readonly<Record<string, string>> = {}): Promise<Admin> {
  const admin = anAdmin([], { PORT: String(await aFreePort()), ...settings });
  writeFileSync(admin.file, (made ??= await aFile()), { mode: 0o600 });
  return admin;
}

const change = (admin: Admin, statement: string) => {
  using database = new Database(admin.file);
  database.run(statement);
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
};

describe("where all is well", () => {
  test.each(["", "--full"])("doctor %s finds nothing and ends with 0", async (option) => {
    expect(await examine(await aHealthy(), ...option.split(" ").filter(Boolean))).toMatchObject({
      status: 0,
      findings: [],
    });
  });

  test("it says what it looked at, in lines that fit a terminal", async () => {
    const { stdout, status } = await (await aHealthy()).run("doctor");
    expect(status).toBe(0);
    const things = "file schema plans integrity clock keys backups permissions disk log settings".split(" ");
    expect([...stdout.matchAll(/^fine +(\w+) /gm)].map(([, thing]) => thing)).toEqual(things);
    expect(stdout).toEndWith("All is well.\n");
    expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  test("a running server and its log are no finding, and the server is asked how it is", async () => {
    const admin = await aHealthy();
    const PORT = String(await aFreePort());
    const server = start({ DATABASE_PATH: admin.file, PORT }, admin.folder);
    await server.listening();
    const there = anAdmin([], { DATABASE_PATH: admin.file, PORT });
    const { stdout, status } = await there.run("doctor");
    expect(stdout).toMatch(/^fine +server +It answers at http:\/\/127\.0\.0\.1:\d+\.$/m);
    expect(status).toBe(0);
  });
});

describe("a file that cannot be used is broken: status 2, and it is left as it is", () => {
  const cases: [name: string, breakIt: (admin: Admin) => void, says: RegExp][] = [
    ["that is missing", ({ file }) => rmSync(file), /is not there/],
    ["that is a folder", ({ folder, file }) => renameSync(file, join(folder, "x")), /is not there/],
    ["that is no database", ({ file }) => writeFileSync(file, "Notes, and no database."), /is no database/],
    ["that is truncated", ({ file }) => truncateSync(file, 50_000), /damaged/],
    ["whose first page is gone", ({ file }) => overwrite(file, 100, 4_000), /damaged/],
    ["with a page of noise", ({ file }) => overwrite(file, 8_192 * 5, 8_192), /damaged/],
    [
      "of another program",
      (admin) => {
        rmSync(admin.file);
        change(admin, "CREATE TABLE notes (text)");
      },
      /another program/,
    ],
    [
      "of a newer version",
      (admin) => change(admin, "INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('x', 9999999999999)"),
      /newer version/,
    ],
    ["that lost an index", (admin) => change(admin, "DROP INDEX leads_by_state"), /removed leads_by_state/],
  ];

  test.each(cases)("one %s", async (_, breakIt, says) => {
    const admin = await aHealthy();
    breakIt(admin);
    const { status, findings } = await examine(admin);
    expect(status).toBe(2);
    expect(findings[0]).toMatchObject({ level: "broken", what: expect.stringMatching(says) });
  });

  test("an index that does not agree with its table is found by --full", async () => {
    const admin = await aHealthy();
    change(admin, "PRAGMA user_version = 1");
    const index = "SELECT rootpage AS page FROM sqlite_schema WHERE name = 'leads_by_state'";
    using database = new Database(admin.file, { readonly: true });
    const page = database.query<{ page: number }, []>(index).get()?.page ?? 0;
    const bytes = readFileSync(admin.file);
    const place = bytes.indexOf("CA", (page - 1) * 8192);
    writeFileSync(admin.file, Buffer.concat([bytes.subarray(0, place), Buffer.from("CB"), bytes.subarray(place + 2)]));
    database.close();
    expect((await examine(admin)).status).toBe(0);
    expect((await examine(admin, "--full")).said).toMatch(/damaged: .*leads_by_state/);
  });

  test("no value of a lead is in what is said of damage", async () => {
    const admin = await aHealthy();
    truncateSync(admin.file, 100_000);
    expect((await examine(admin)).said).not.toContain("v@example.com");
  });
});

describe("a log that no program has folded in", () => {
  test("is a warning, and is not folded in by looking", async () => {
    const admin = await aHealthy();
    const database = new Database(admin.file);
    database.run("INSERT INTO pixels (account, id, status, created_at) VALUES (1, 'px_2', 'active', 0)");
    for (const name of ["", "-wal"]) copyFileSync(admin.file + name, `${admin.folder}/copy.db${name}`);
    database.close();
    const copy = anAdmin([], { DATABASE_PATH: join(admin.folder, "copy.db"), PORT: "0" });
    chmodSync(join(admin.folder, "copy.db"), 0o600);
    chmodSync(join(admin.folder, "copy.db-wal"), 0o600);
    const before = contentsOf(admin.folder);
    const { stdout, status } = await copy.run("doctor", "--json");
    expect(stdout).toContain("was not read");
    expect(status).toBe(1);
    expect(contentsOf(admin.folder)).toEqual(before);
  });
});

describe("worth a look, with status 1", () => {
  test("others who may read the file", async () => {
    const admin = await aHealthy();
    chmodSync(admin.file, 0o644);
    expect(await examine(admin)).toMatchObject({
      status: 1,
      findings: [{ level: "warning", what: expect.stringContaining("644"), advice: `chmod 600 ${admin.file}` }],
    });
  });

  test.each(["-wal", "-shm"])("others who may read what lies beside the file: %s", async (suffix) => {
    const admin = await aHealthy();
    using open = new Database(admin.file);
    open.run("UPDATE accounts SET name = name");
    chmodSync(admin.file + suffix, 0o640);
    expect(await examine(admin)).toMatchObject({
      status: 1,
      findings: [{ level: "warning", advice: `chmod 600 ${admin.file}${suffix}` }],
    });
  });

  test("a log that has grown, because nothing folds it in", async () => {
    const admin = await aHealthy();
    using open = new Database(admin.file);
    open.run("UPDATE accounts SET name = name");
    truncateSync(`${admin.file}-wal`, 300_000_000);
    const { status, stdout } = await admin.run("doctor", "--json");
    expect([status, stdout]).toEqual([1, expect.stringContaining("has grown to 300 MB")]);
  });

  test("others who may put another file in its place", async () => {
    const admin = await aHealthy();
    chmodSync(admin.folder, 0o777);
    expect((await examine(admin)).findings).toMatchObject([
      { level: "warning", advice: expect.stringContaining("chmod") },
    ]);
    // In a folder such as /tmp nobody can replace the file of another.
    chmodSync(admin.folder, 0o1777);
    expect((await examine(admin)).status).toBe(0);
  });

  test("a key that was not used for long", async () => {
    const admin = await aHealthy();
    const { id } = (await admin.run("key", "create", "acme", "--json")).json;
    expect((await examine(admin)).status).toBe(0);
    change(admin, "UPDATE keys SET created_at = 0");
    const { status, said } = await examine(admin);
    expect(said).toContain(id);
    expect(status).toBe(1);
    change(admin, `INSERT INTO usage (key, day, requests) VALUES (1, '${dayOf(Date.now())}', 1)`);
    expect((await examine(admin)).status).toBe(0);
    change(admin, "DELETE FROM usage");
    change(admin, "UPDATE keys SET expires_at = 86400000");
    expect((await examine(admin)).status).toBe(0);
    change(admin, "UPDATE keys SET expires_at = NULL");
    expect((await examine(admin)).status).toBe(1);
    await admin.run("key", "revoke", id);
    expect((await examine(admin)).status).toBe(0);
  });

  test.each([
    ["a lead", "UPDATE stored_leads SET position = (account << 49) + 4102444800000"],
    ["a count of requests", "INSERT INTO usage (key, day, requests) VALUES (1, '2100-01-01', 1)"],
  ])("a clock that is behind %s of the file", async (_, statement) => {
    const admin = await aHealthy();
    await admin.run("key", "create", "acme");
    change(admin, statement);
    expect(await examine(admin)).toMatchObject({ status: 1, said: expect.stringContaining("The clock says") });
  });

  test("a clock that is behind the last writing of the file", async () => {
    const admin = await aHealthy();
    const future = new Date(Date.now() + 3_600_000);
    utimesSync(admin.file, future, future);
    expect((await examine(admin)).said).toContain("The clock says");
  });

  test("leads of which there is no backup, or an old one alone", async () => {
    const admin = await aHealthy();
    change(admin, `UPDATE audit SET at = at - ${4 * dayMs} WHERE act = 'backup'`);
    expect(await examine(admin)).toMatchObject({
      status: 1,
      said: expect.stringContaining("The last one was made at"),
    });
    change(admin, "DELETE FROM audit");
    expect(await examine(admin)).toMatchObject({ status: 1, said: "No backup was ever made of it." });
    change(admin, "DELETE FROM stored_leads");
    expect((await examine(admin)).status).toBe(0);
  });

  test("a file of an earlier version", async () => {
    const admin = await aHealthy();
    writeFileSync(admin.file, "");
    expect(await examine(admin)).toMatchObject({ status: 1, said: expect.stringContaining("earlier version") });
  });
});

describe("settings", () => {
  test("every wrong one is named, not the first alone", async () => {
    const { status, said } = await examine(await aHealthy({ LOG_LEVEL: "loud", TRUST_PROXY: "yes", METRICS: "all" }));
    for (const name of ["LOG_LEVEL", "TRUST_PROXY", "METRICS"]) expect(said).toContain(`${name} is `);
    expect(status).toBe(2);
  });

  test.each([
    [{ HOST: "0.0.0.0", BASE_URL: "https://www.example.com" }, "without TLS"],
    [{ TRUST_PROXY: "1" }, "BASE_URL is not set"],
    [{ BASE_URL: "http://www.example.com" }, "in the clear"],
  ])("%j is a warning", async (settings, says) => {
    const { status, said } = await examine(await aHealthy(settings));
    expect(said).toContain(says);
    expect(status).toBe(1);
  });

  test("behind a proxy on this machine they are fine", async () => {
    const settings = { TRUST_PROXY: "1", BASE_URL: "https://www.example.com" };
    expect((await examine(await aHealthy(settings))).status).toBe(0);
  });
});

describe(`a certificate${openssl === null ? " (skipped: no openssl here)" : ""}`, () => {
  const testTls = test.skipIf(openssl === null);
  const names = ["www.example.com"];
  const BASE_URL = "https://www.example.com";

  testTls("with months left is fine", async () => {
    const { TLS_CERT, TLS_KEY } = aCertificate({ days: 90, names });
    expect(await examine(await aHealthy({ TLS_CERT, TLS_KEY, BASE_URL }))).toMatchObject({ status: 0 });
  });

  testTls("that ends soon is a warning", async () => {
    const { TLS_CERT, TLS_KEY } = aCertificate({ days: 20, names });
    const { status, said } = await examine(await aHealthy({ TLS_CERT, TLS_KEY, BASE_URL }));
    expect(said).toMatch(/ends on \d{4}-\d\d-\d\d/);
    expect(status).toBe(1);
  });

  testTls("for another name is broken", async () => {
    const { TLS_CERT, TLS_KEY } = aCertificate({ days: 90 });
    const { status, said } = await examine(await aHealthy({ TLS_CERT, TLS_KEY, BASE_URL }));
    expect(said).toContain("is not for www.example.com");
    expect(status).toBe(2);
  });

  testTls("that does not fit its key is broken", async () => {
    const { TLS_CERT } = aCertificate();
    const { TLS_KEY } = aCertificate();
    const { status, said } = await examine(await aHealthy({ TLS_CERT, TLS_KEY }));
    expect(said).toContain("TLS_KEY is ");
    expect(status).toBe(2);
  });
});

describe.skipIf(process.platform !== "linux")("a file under a running server", () => {
  async function served() {
    const admin = await aHealthy();
    const server = start({ DATABASE_PATH: admin.file }, admin.folder);
    const url = await server.listening();
    // The log is there from the first writing on.
    await admin.run("pixel", "create", "acme", "--id", "px_2");
    return { admin, url };
  }

  test("that was deleted is found by the server that still has it open", async () => {
    const { admin } = await served();
    rmSync(admin.file);
    const { status, said } = await examine(admin);
    expect(said).toMatch(/Process \d+ has a file open that was since deleted/);
    expect(status).toBe(2);
  });

  test("that was replaced by a copy is found", async () => {
    const { admin } = await served();
    copyFileSync(admin.file, `${admin.file}.new`);
    renameSync(`${admin.file}.new`, admin.file);
    expect((await examine(admin)).said).toMatch(/Process \d+ has a file open/);
  });

  test("that was moved away before another one took its place is found", async () => {
    const { admin } = await served();
    renameSync(admin.file, `${admin.file}.old`);
    copyFileSync(`${admin.file}.old`, admin.file);
    expect((await examine(admin)).said).toMatch(/Process \d+ has a file open/);
  });

  test("that is the same is not reported", async () => {
    const { admin } = await served();
    expect(await examine(admin)).toMatchObject({ status: 0, findings: [] });
    expect(statSync(admin.file).size).toBeGreaterThan(0);
  });
});

function overwrite(file: string, from: number, length: number): void {
  const bytes = readFileSync(file);
  bytes.fill(0xa5, from, from + length);
  writeFileSync(file, bytes);
}

test.skipIf(!mounts)("a disk that is full is not taken for a damaged file, which would be moved away", async () => {
  const admin = anAdmin([]);
  const disk = join(admin.folder, "disk");
  mkdirSync(disk);
  expect(Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=2m", "none", disk]).exitCode).toBe(0);
  try {
    const full = anAdmin([], { DATABASE_PATH: join(disk, "leads.db") });
    await full.run("account", "create", "acme");
    Bun.spawnSync(["dd", "if=/dev/zero", `of=${join(disk, "rest")}`, "bs=1k"]);
    // What a program that found no room has left.
    writeFileSync(join(disk, "leads.db-wal"), "");
    writeFileSync(join(disk, "leads.db-shm"), "");
    const { status, stdout } = await full.run("doctor");
    expect(status).toBe(2);
    expect(stdout).toMatch(/Only [^\n]+ free/);
    expect(stdout).not.toMatch(/damaged|Move it away/);
  } finally {
    Bun.spawnSync(["umount", disk]);
  }
});

test.skipIf(!mounts)("a disk without room for the file a second time is worth a look", async () => {
  const admin = anAdmin([]);
  const disk = join(admin.folder, "disk");
  mkdirSync(disk);
  expect(Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=60m,mode=700", "none", disk]).exitCode).toBe(0);
  try {
    const small = anAdmin([], { DATABASE_PATH: join(disk, "leads.db") });
    await small.run("account", "create", "acme");
    const { status, stdout } = await small.run("doctor", "--json");
    expect([status, stdout]).toEqual([1, expect.stringMatching(/Only 6\d\.\d MB are free/)]);
  } finally {
    Bun.spawnSync(["umount", disk]);
  }
});
