/** bun admin key: keys are shown once, on standard output, and are never an argument (§3, §5). They can expire and be rotated. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { dayMs } from "../../src/contract/calendar.ts";
import { createKey, digestOf, isActive } from "../../src/contract/key.ts";
import { type Admin, anAdmin } from "../support/admin.ts";
import { noonMs } from "../support/builders.ts";
import { aKey } from "../support/database.ts";
import { serve } from "../support/harness.ts";

/** A file with a key. */
async function withKey(...options: string[]) {
  const admin = anAdmin();
  const old = (await admin.run("key", "create", "acme", "--label", "poller", "--json", ...options)).json;
  return { admin, old };
}

const listOf = async (admin: Admin) => JSON.parse((await admin.run("key", "list", "acme", "--json")).stdout);

/** Checks a key, and returns what is printed, with the status. */
async function check(admin: Admin, input: string) {
  const { json, status, stderr } = await admin.give(input, "key", "check", "--json");
  return { ...json, status, stderr };
}

const stateOf = async (admin: Admin, key: string): Promise<unknown> =>
  ({ state: null, ...(await check(admin, key)) }).state;

describe("key create", () => {
  test("prints the key alone on standard output, and never on standard error", async () => {
    const { stdout, stderr, status } = await anAdmin().run("key", "create", "acme");
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^lf_[0-9A-Za-z]{38}\n$/)]);
    expect(stderr).not.toContain(stdout.trim().slice(8));
  });

  test("with --json prints a key with its prefix, which is not in the list or the file", async () => {
    const { admin, old } = await withKey();
    const { key, ...others } = old;
    expect<unknown>(others).toEqual({
      id: expect.stringMatching(/^key_\w+$/),
      prefix: key.slice(0, 8),
      label: "poller",
      account: expect.stringMatching(/^acc_/),
    });
    expect(key).toMatch(/^lf_[0-9A-Za-z]{38}$/);
    const list = await listOf(admin);
    expect(list).toEqual([expect.objectContaining({ ...others, state: "active", last_used: null })]);
    expect(JSON.stringify(list)).not.toContain(key.slice(8));
    expect(readFileSync(admin.file).includes(key.slice(8))).toBe(false);
  });

  test.each([
    ["2999-01-31", "2999-01-31T00:00:00.000Z"],
    ["2999-01-31T09:00:00+01:00", "2999-01-31T08:00:00.000Z"],
  ])("--expires %s ends the key at %s", async (date, expires) => {
    const { admin, old } = await withKey("--expires", date);
    expect(await listOf(admin)).toMatchObject([{ expires_at: expires, state: "active" }]);
    expect((await check(admin, old.key)).status).toBe(0);
  });

  test("cannot be exactly now, and can be a second later", async () => {
    const admin = anAdmin(["acme"], {}, Date.parse("2026-05-20T12:00:00.000Z"));
    const create = (time: string) => admin.run("key", "create", "acme", "--expires", time, "--json");
    expect(await create("2026-05-20T12:00:00Z")).toMatchObject({ status: 2, stdout: "" });
    expect(await create("2026-05-20T12:00:01Z")).toMatchObject({ status: 0 });
  });

  test.each(["2020-01-31", "tomorrow", "2999-02-30", "2999-01-31T09:00:00", ""])(
    "--expires %p is a usage error, and creates no key",
    async (date) => {
      const admin = anAdmin();
      const { status, stderr } = await admin.run("key", "create", "acme", "--expires", date);
      expect([status, stderr]).toEqual([2, expect.stringMatching(/^--expires [^\n]+\n$/)]);
      expect(await listOf(admin)).toEqual([]);
    },
  );
});

test("key revoke is final, may be repeated, and prints the key as the list does, with its requests of the month", async () => {
  const admin = anAdmin(["acme"], {}, Date.parse("2026-05-20T09:15:00Z"));
  const { id } = (await admin.run("key", "create", "acme", "--json")).json;
  using database = new Database(admin.file);
  database.run("INSERT INTO usage (key, day, requests) VALUES (1, '2026-04-30', 5), (1, '2026-05-20', 2)");
  const first = await admin.run("key", "revoke", id, "--json");
  expect(first.json).toMatchObject({ id, state: "revoked", revoked_at: "2026-05-20T09:15:00.000Z" });
  expect(first.json).toMatchObject({ requests_this_month: 2, last_used: "2026-05-20" });
  expect(await admin.run("key", "revoke", id, "--json")).toMatchObject({ status: 0, stdout: first.stdout });
  expect(await listOf(admin)).toEqual([{ ...first.json, gaps: [] }]);
  expect(await admin.run("key", "revoke", "key_nobodys")).toMatchObject({ status: 1, stdout: "" });
});

describe("key check reads a key from standard input, and says", () => {
  test("active, then revoked, with what is known", async () => {
    const { admin, old } = await withKey();
    const known = { id: old.id, label: "poller", account: old.account, stderr: "" };
    for (const input of [old.key, `${old.key}\n`, ` ${old.key}\r\n`]) {
      expect<unknown>(await check(admin, input)).toEqual({ ...known, state: "active", status: 0 });
    }
    await admin.run("key", "revoke", old.id);
    expect<unknown>(await check(admin, old.key)).toEqual({ ...known, state: "revoked", status: 1 });
  });

  test("unknown for a key of another instance, and never repeats it", async () => {
    const key = createKey();
    expect<unknown>(await check(anAdmin(), key)).toEqual({ state: "unknown", status: 1, stderr: "" });
    const { stdout, stderr } = await anAdmin().give(key, "key", "check");
    expect(stdout + stderr).not.toContain(key.slice(8));
  });

  test("malformed for a text that is not a key", async () => {
    const { admin, old } = await withKey();
    const { key } = old;
    const mistyped = key.slice(0, 10) + (key[10] === "a" ? "b" : "a") + key.slice(11);
    const others = [key.toLowerCase(), key.slice(1), `${key}x`, `Bearer ${key}`, `${key}\n${key}`];
    for (const input of ["", "\n", "lf_", mistyped, ...others]) {
      expect<unknown>(await check(admin, input)).toEqual({ state: "malformed", status: 1, stderr: "" });
    }
  });
});

describe("key rotate", () => {
  test.each([
    ["90m", 90 * 60_000],
    ["36h", 36 * 3_600_000],
    ["7d", 7 * dayMs],
  ])("creates a key like the old one, which works for an overlap of %s", async (overlap, ms) => {
    const { admin, old } = await withKey();
    const startMs = Date.now();
    const { json } = await admin.run("key", "rotate", old.id, "--overlap", overlap, "--json");
    expect(json).toMatchObject({ label: "poller", account: old.account, replaces: old.id });
    expect(json.key).toMatch(/^lf_\w{38}$/);
    expect(Date.parse(String(json["old_expires_at"]))).toBeWithin(startMs + ms, Date.now() + ms + 1);
    expect([await stateOf(admin, old.key), await stateOf(admin, json.key)]).toEqual(["active", "active"]);
    const expiries = (await listOf(admin)).map((key: { expires_at: string | null }) => key.expires_at);
    expect(expiries).toEqual([json["old_expires_at"], null]);
  });

  test("without an overlap revokes the old key at once", async () => {
    const { admin, old } = await withKey();
    // The clock of another machine may be behind the one of this command.
    const ahead = anAdmin([], { DATABASE_PATH: admin.file }, Date.now() + 3_600_000);
    const { json } = await ahead.run("key", "rotate", old.id, "--overlap", "0", "--json");
    expect([await stateOf(admin, old.key), await stateOf(admin, json.key)]).toEqual(["revoked", "active"]);
  });

  test("never extends the expiry of the old key", async () => {
    const soon = new Date(Date.now() + 3_600_000).toISOString();
    const { admin, old } = await withKey("--expires", soon);
    const { json } = await admin.run("key", "rotate", old.id, "--overlap", "7d", "--json");
    expect(json["old_expires_at"]).toBe(soon);
    expect(await listOf(admin)).toMatchObject([{ expires_at: soon }, { expires_at: soon }]);
  });

  test("rejects a revoked key, an unknown ID, and a malformed overlap", async () => {
    const { admin, old } = await withKey();
    expect((await admin.run("key", "rotate", "key_nobodys")).status).toBe(1);
    for (const overlap of ["24", "1w", "-1h", ""])
      expect((await admin.run("key", "rotate", old.id, "--overlap", overlap)).status).toBe(2);
    await admin.run("key", "revoke", old.id);
    expect((await admin.run("key", "rotate", old.id)).stderr).toMatch(/^Key key_\w+ is already revoked[^\n]+\n$/);
    expect(await listOf(admin)).toHaveLength(1);
  });

  test("reports an expired key as expired", async () => {
    const { admin, old } = await withKey("--expires", new Date(Date.now() + 60_000).toISOString());
    const later = anAdmin([], { DATABASE_PATH: admin.file }, Date.now() + 3_600_000);
    const { status, stderr } = await later.run("key", "rotate", old.id);
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/^Key key_\w+ has already expired\. To create a new one/),
    ]);
  });
});

test("an expired key is revoked from the very next request, and its requests are not counted", async () => {
  const { database, account, as, store, clock } = await serve({ limit: 60 });
  const { secret, ...record } = aKey(database, account, noonMs + 1000);
  for (const [nowMs, status, left] of [
    [noonMs, 200, "59"],
    [noonMs + 999, 200, "58"],
    [noonMs + 1000, 401, "60"],
    [noonMs + dayMs, 401, "60"],
  ] as const) {
    clock.nowMs = nowMs;
    const answer = await as(secret).get("/usage");
    expect([answer.status, isActive(record, nowMs)]).toEqual([status, status === 200]);
    expect(answer.headers.get("x-ratelimit-remaining")).toBe(left);
    if (status === 200) continue;
    expect(answer.body.error).toMatchObject({ code: "revoked_api_key", message: expect.stringContaining("expired") });
  }
  const number = store.keys.find(digestOf(secret))?.number ?? -1;
  expect(store.usage.of(number, noonMs)).toEqual({ today: 2, month: 2 });
});

const mistaken =
  "key check KEY|key create KEY|key list KEY|key revoke KEY|key rotate KEY|key KEY|KEY|key create acme --KEY|" +
  "key create acme --expires KEY|lead find acme --id x --email KEY|lead import acme KEY|lead export KEY|backup no/such/KEY";
test.each(mistaken.split("|").map((line) => [line]))(
  "no error repeats a key that was typed by mistake: %s",
  async (line) => {
    const { admin, old } = await withKey();
    const { status, stdout, stderr } = await admin.run(...line.replace("KEY", old.key).split(" "));
    expect([status > 0, stderr]).toEqual([true, expect.stringMatching(/^[^\n]{20,}\n$/)]);
    expect(stdout + stderr).not.toContain(old.key.slice(3, 20));
  },
);

test.each([">&-", ">/dev/null"])("no key is created if nobody would see it: key create %s", async (redirection) => {
  const { admin, old } = await withKey();
  for (const command of ["create acme", `rotate ${old.id}`]) {
    const shell = ["sh", "-c", `"$@" ${redirection}`, "sh"];
    const { exited, errors } = admin.startUnder(shell, ["key", ...command.split(" ")]);
    const said = expect.stringMatching(/^Standard output is closed, so the key[^\n]+\n$/);
    expect([await exited, errors()]).toEqual([1, said]);
  }
  expect(await listOf(admin)).toMatchObject([{ expires_at: null }]);
});
