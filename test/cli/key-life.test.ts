/** Keys that end by themselves, keys that follow one another, and keys that were given in the wrong place. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { dayMs } from "../../src/contract/calendar.ts";
import { createKey, digestOf, isActive, prefixOf } from "../../src/contract/key.ts";
import { anAdmin } from "../support/admin.ts";
import { noonMs } from "../support/builders.ts";
import { aKey, serve } from "../support/harness.ts";

test("a key is served until the moment at which it expires, and is revoked from the very next request", async () => {
  const { admin, account, as, clock } = await serve();
  const secret = createKey();
  const key = { digest: digestOf(secret), prefix: prefixOf(secret), label: null, expiresMs: noonMs + 1000 };
  const record = admin.keys.create(account.number, key, noonMs);
  for (const [nowMs, status] of [
    [noonMs, 200],
    [noonMs + 999, 200],
    [noonMs + 1000, 401],
    [noonMs + dayMs, 401],
  ] as const) {
    clock.nowMs = nowMs;
    const answer = await as(secret).get("/usage");
    expect(answer.status).toBe(status);
    expect(isActive(record, nowMs)).toBe(status === 200);
    if (status === 200) continue;
    expect(answer.body.error.code).toBe("revoked_api_key");
    expect(answer.body.error.message).toContain("expired");
  }
});

test("an expired key counts nowhere, and its answers carry the whole limit", async () => {
  const { admin, account, as, store, clock } = await serve({ limit: 60 });
  const { secret, id } = aKey(admin, account);
  admin.keys.expire(id, noonMs + 1, noonMs);
  clock.nowMs = noonMs + 1;
  const { headers } = await as(secret).get("/leads");
  expect(headers.get("x-ratelimit-remaining")).toBe("60");
  const number = store.keys.find(digestOf(secret))?.number ?? -1;
  expect(store.usage.of(number, clock.nowMs)).toEqual({ today: 0, month: 0 });
});

test("a key that is revoked is printed as the list has it, with its requests of the month", async () => {
  const admin = anAdmin(["acme"], {}, Date.parse("2026-05-20T09:15:00Z"));
  const { id } = (await admin.run("key", "create", "acme", "--json")).json;
  using database = new Database(admin.file);
  database.run("INSERT INTO usage (key, day, requests) VALUES (1, '2026-04-30', 5), (1, '2026-05-20', 2)");
  const revoked = (await admin.run("key", "revoke", id, "--json")).json;
  expect(revoked).toMatchObject({ state: "revoked", requests_this_month: 2 });
  expect(JSON.parse((await admin.run("key", "list", "acme", "--json")).stdout)).toEqual([{ ...revoked, gaps: [] }]);
});

describe("key create --expires", () => {
  test.each([
    ["2999-01-31", "2999-01-31T00:00:00.000Z"],
    ["2999-01-31T09:00:00+01:00", "2999-01-31T08:00:00.000Z"],
  ])("%s ends the key at %s, and the list says so", async (date, expires) => {
    const admin = anAdmin();
    const { key } = (await admin.run("key", "create", "acme", "--expires", date, "--json")).json;
    expect(JSON.parse((await admin.run("key", "list", "acme", "--json")).stdout)).toMatchObject([
      { expires_at: expires, state: "active" },
    ]);
    expect((await admin.give(key, "key", "check")).status).toBe(0);
  });

  test.each(["2020-01-31", "tomorrow", "2999-02-30", "2999-01-31T09:00:00", ""])(
    "%s is wrong use, and makes no key",
    async (date) => {
      const admin = anAdmin();
      const { status, stderr } = await admin.run("key", "create", "acme", "--expires", date);
      expect(status).toBe(2);
      expect(stderr).toMatch(/^--expires [^\n]+\n$/);
      expect((await admin.run("key", "list", "acme", "--json")).stdout).toBe("[]\n");
    },
  );
});

describe("key rotate", () => {
  async function aKeyOf(...options: string[]) {
    const admin = anAdmin();
    const old = (await admin.run("key", "create", "acme", "--label", "poller", "--json", ...options)).json;
    return { admin, old };
  }
  const state = async (admin: ReturnType<typeof anAdmin>, key: string) =>
    (await admin.give(key, "key", "check")).stdout.split(" ")[0]?.trim();

  test("makes a key like the old one, which holds for as long as the overlap", async () => {
    const { admin, old } = await aKeyOf();
    const startMs = Date.now();
    const ended = await admin.run("key", "rotate", old.id, "--overlap", "36h", "--json");
    expect(ended.json).toMatchObject({ label: "poller", account: old.account, replaces: old.id });
    expect(ended.json.key).toMatch(/^lf_\w{38}$/);
    const endMs = Date.parse(String(ended.json["old_expires_at"]));
    expect(endMs).toBeGreaterThanOrEqual(startMs + 36 * 3_600_000);
    expect(endMs).toBeLessThanOrEqual(Date.now() + 36 * 3_600_000);
    expect([await state(admin, old.key), await state(admin, ended.json.key)]).toEqual(["active", "active"]);
    const list = JSON.parse((await admin.run("key", "list", "acme", "--json")).stdout);
    expect(list.map((key: { expires_at: string | null }) => key.expires_at)).toEqual([
      ended.json["old_expires_at"],
      null,
    ]);
  });

  test.each([
    ["90m", 90 * 60_000],
    ["12h", 12 * 3_600_000],
    ["7d", 7 * dayMs],
  ])("lets the old one live for an overlap of %s", async (overlap, ms) => {
    const { admin, old } = await aKeyOf();
    const startMs = Date.now();
    const { json } = await admin.run("key", "rotate", old.id, "--overlap", overlap, "--json");
    const leftMs = Date.parse(String(json["old_expires_at"])) - startMs;
    expect([leftMs >= ms, leftMs < ms + 60_000]).toEqual([true, true]);
  });

  test("without an overlap revokes the old one at once", async () => {
    const { admin, old } = await aKeyOf();
    // The clock of another machine may be behind the one of this command.
    const ahead = anAdmin([], { DATABASE_PATH: admin.file }, Date.now() + 3_600_000);
    const { json } = await ahead.run("key", "rotate", old.id, "--overlap", "0", "--json");
    expect([await state(admin, old.key), await state(admin, json.key)]).toEqual(["revoked", "active"]);
  });

  test("lets neither key live longer than the old one was to live", async () => {
    const soon = new Date(Date.now() + 3_600_000).toISOString();
    const { admin, old } = await aKeyOf("--expires", soon);
    const { json } = await admin.run("key", "rotate", old.id, "--overlap", "7d", "--json");
    expect(json["old_expires_at"]).toBe(soon);
    const list = JSON.parse((await admin.run("key", "list", "acme", "--json")).stdout);
    expect(list.map((key: { expires_at: string }) => key.expires_at)).toEqual([soon, soon]);
  });

  test("refuses a revoked key, an unknown id and a malformed overlap", async () => {
    const { admin, old } = await aKeyOf();
    expect((await admin.run("key", "rotate", "key_nobodys")).status).toBe(1);
    for (const overlap of ["24", "1w", "-1h", ""])
      expect((await admin.run("key", "rotate", old.id, "--overlap", overlap)).status).toBe(2);
    await admin.run("key", "revoke", old.id);
    expect((await admin.run("key", "rotate", old.id)).stderr).toMatch(/^Key key_\w+ is already revoked[^\n]+\n$/);
    expect(JSON.parse((await admin.run("key", "list", "acme", "--json")).stdout)).toHaveLength(1);
  });
});

test("key list tells when each key was used last, and its requests of the month", async () => {
  const { admin, account, as, store } = await serve();
  const used = aKey(admin, account);
  const idle = aKey(admin, account);
  for (let times = 0; times < 3; times++) await as(used.secret).get("/pixels");
  store.flush();
  expect([used, idle].map(({ id }) => admin.keys.requestsOfMonth(id, noonMs))).toEqual([3, 0]);
  expect(admin.keys.requestsOfMonth(used.id, noonMs + 40 * dayMs)).toBe(0);
});

test.each([
  [["key", "check", "KEY"]],
  [["key", "list", "KEY"]],
  [["key", "revoke", "KEY"]],
  [["key", "rotate", "KEY"]],
  [["key", "KEY"]],
  [["KEY"]],
  [["key", "create", "acme", "--KEY"]],
  [["key", "create", "acme", "--expires", "KEY"]],
  [["lead", "find", "acme", "--id", "x", "--email", "KEY"]],
  [["lead", "import", "acme", "KEY"]],
  [["backup", "no/such/KEY"]],
])("no error repeats a key that was typed by mistake: %j", async (words) => {
  const admin = anAdmin();
  const { key } = (await admin.run("key", "create", "acme", "--json")).json;
  const { status, stdout, stderr } = await admin.run(...words.map((word) => word.replace("KEY", key)));
  expect(status).not.toBe(0);
  expect(stderr).toMatch(/^[^\n]{20,}\n$/);
  expect(stdout + stderr).not.toContain(key.slice(3, 20));
});

test.each([">&-", ">/dev/null"])(
  "a key that nobody would see is not made: key create %s ends with 1",
  async (redirection) => {
    const admin = anAdmin();
    const { id } = (await admin.run("key", "create", "acme", "--json")).json;
    const program = join(import.meta.dir, "../../src/admin.ts");
    for (const command of ["create acme", `rotate ${id}`]) {
      const line = `"${process.execPath}" "${program}" key ${command} ${redirection}`;
      const shell = Bun.spawn(["sh", "-c", line], {
        env: { DATABASE_PATH: admin.file, HOME: admin.folder },
        stderr: "pipe",
      });
      expect([await shell.stderr.text(), await shell.exited]).toEqual([
        expect.stringMatching(/^Standard output is closed, so the key[^\n]+\n$/),
        1,
      ]);
    }
    expect(JSON.parse((await admin.run("key", "list", "acme", "--json")).stdout)).toMatchObject([{ expires_at: null }]);
  },
);
