/** bun admin key: keys are shown once, on standard output, and are never an argument (§3, §5). */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { crc32 } from "node:zlib";
import { type Admin, anAdmin } from "../support/admin.ts";

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** The checksum of a key, worked out apart from the code. */
function checksum(body: string): string {
  const digits: string[] = [];
  for (let rest = crc32(body); digits.length < 6; rest = Math.floor(rest / 62))
    digits.unshift(alphabet[rest % 62] ?? "");
  return digits.join("");
}

const aKey = async (admin: Admin) => (await admin.run("key", "create", "acme", "--label", "test", "--json")).json;

test("create prints the key alone on standard output, and never on standard error", async () => {
  const { stdout, stderr, status } = await anAdmin().run("key", "create", "acme");
  expect(status).toBe(0);
  expect(stdout).toMatch(/^lf_[0-9A-Za-z]{38}\n$/);
  expect(stderr).not.toContain(stdout.trim());
  expect(stderr).not.toContain(stdout.trim().slice(8));
});

test("a key ends with the checksum of all before it, and its first eight characters are its prefix", async () => {
  const { json, stderr } = await anAdmin().run("key", "create", "acme", "--label", "my client", "--json");
  expect(json as unknown).toEqual({
    id: expect.stringMatching(/^key_\w+$/),
    key: expect.stringMatching(/^lf_[0-9A-Za-z]{38}$/),
    prefix: json.key.slice(0, 8),
    label: "my client",
    account: expect.stringMatching(/^acc_/),
  });
  expect(json.key.slice(-6)).toBe(checksum(json.key.slice(0, -6)));
  expect(stderr).not.toContain(json.key);
});

test("list shows each key without itself, and neither key nor digest is in the file", async () => {
  const admin = anAdmin();
  const { key, ...made } = await aKey(admin);
  const ended = await admin.run("key", "list", "acme", "--json");
  expect(JSON.parse(ended.stdout)).toEqual([expect.objectContaining({ ...made, state: "active", last_used: null })]);
  expect(ended.stdout).not.toContain(key.slice(8));
  expect(readFileSync(admin.file).includes(key.slice(8))).toBe(false);
});

test("revoke is final, may be said twice, and prints the key as the list does", async () => {
  const admin = anAdmin();
  const { id } = await aKey(admin);
  const first = await admin.run("key", "revoke", id, "--json");
  expect(first.json).toMatchObject({ id, state: "revoked", revoked_at: expect.stringMatching(/^\d{4}-.*Z$/) });
  const again = await admin.run("key", "revoke", id, "--json");
  expect(again).toMatchObject({ status: 0, stdout: first.stdout });
  expect(JSON.parse((await admin.run("key", "list", "acme", "--json")).stdout)).toEqual([{ ...first.json, gaps: [] }]);
});

test("revoke refuses an unknown id, and never repeats a key that was typed as one", async () => {
  const admin = anAdmin();
  const { key } = await aKey(admin);
  const ended = await admin.run("key", "revoke", key);
  expect({ status: ended.status, stdout: ended.stdout }).toEqual({ status: 1, stdout: "" });
  expect(ended.stderr).toMatch(/^[^\n]+\n$/);
  expect(ended.stderr).not.toContain(key.slice(3));
});

describe("check reads a key from standard input", () => {
  test("and says active with status 0", async () => {
    const admin = anAdmin();
    const { key, id, account } = await aKey(admin);
    for (const input of [key, `${key}\n`, ` ${key}\r\n`]) {
      const { json, status } = await admin.give(input, "key", "check", "--json");
      expect<unknown>({ ...json, status }).toEqual({ state: "active", id, label: "test", account, status: 0 });
    }
  });

  test("and says revoked with status 1", async () => {
    const admin = anAdmin();
    const { key, id, account } = await aKey(admin);
    await admin.run("key", "revoke", id);
    const { json, status } = await admin.give(key, "key", "check", "--json");
    expect<unknown>({ ...json, status }).toEqual({ state: "revoked", id, label: "test", account, status: 1 });
  });

  test("and says unknown with status 1 of a key of another instance", async () => {
    const { key } = await aKey(anAdmin());
    const { json, status, stderr } = await anAdmin().give(key, "key", "check", "--json");
    expect<unknown>({ ...json, status, stderr }).toEqual({ state: "unknown", status: 1, stderr: "" });
  });

  test("and says malformed with status 1 of anything else", async () => {
    const admin = anAdmin();
    const { key } = await aKey(admin);
    const mistyped = key.slice(0, 10) + (key[10] === "a" ? "b" : "a") + key.slice(11);
    for (const input of [
      "",
      "\n",
      "lf_",
      mistyped,
      key.toLowerCase(),
      key.slice(1),
      `${key}x`,
      `Bearer ${key}`,
      `${key}\n${key}`,
    ]) {
      const { json, status, stderr } = await admin.give(input, "key", "check", "--json");
      expect<unknown>({ ...json, status, stderr }).toEqual({ state: "malformed", status: 1, stderr: "" });
    }
  });

  test("and never repeats it", async () => {
    const { key } = await aKey(anAdmin());
    const { stdout, stderr } = await anAdmin().give(key, "key", "check");
    expect(stdout + stderr).not.toContain(key.slice(8));
  });
});
