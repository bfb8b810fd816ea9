/** bun admin account and pixel: what they make, list and change, and what they refuse. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { anAdmin } from "../support/admin.ts";

describe("account", () => {
  test("create prints the id of an account with an active subscription", async () => {
    const admin = anAdmin([]);
    const plain = await admin.run("account", "create", "acme");
    expect(plain).toMatchObject({ status: 0, stdout: expect.stringMatching(/^acc_[0-9A-Za-z]+\n$/) });
    const { json, status } = await admin.run("account", "create", "Harbor & Pine", "--json");
    expect(status).toBe(0);
    expect(json as unknown).toEqual({
      id: expect.stringMatching(/^acc_/),
      name: "Harbor & Pine",
      subscription: "active",
    });
  });

  test("list shows them all in the order in which they were made", async () => {
    const { json } = await anAdmin(["b", "a"]).run("account", "list", "--json");
    const account = (name: string) => ({ id: expect.stringMatching(/^acc_/), name, subscription: "active" });
    expect(json as unknown).toEqual([account("b"), account("a")]);
    expect((await anAdmin([]).run("account", "list", "--json")).json as unknown).toEqual([]);
  });

  test("a file without an account is named: DATABASE_PATH may be mistyped", async () => {
    const admin = anAdmin([]);
    await admin.run("account", "create", "acme");
    new Database(admin.file).run("DELETE FROM accounts");
    const advice = `There is no account in ${admin.file} yet. To create one: bun admin account create NAME\n`;
    expect(await admin.run("account", "list")).toMatchObject({ status: 0, stdout: advice });
    const keys = await admin.run("key", "list", "acme");
    expect([keys.status, keys.stderr]).toEqual([1, expect.stringContaining(advice)]);
  });

  test("activate and deactivate switch the subscription, by id or by name, as often as one likes", async () => {
    const admin = anAdmin();
    const [{ id }] = JSON.parse((await admin.run("account", "list", "--json")).stdout) as [{ id: string }]; // One was made.
    for (const [verb, subscription] of [
      ["deactivate", "inactive"],
      ["deactivate", "inactive"],
      ["activate", "active"],
    ] as const) {
      for (const named of [id, "acme"]) {
        const ended = await admin.run("account", verb, named, "--json");
        expect(ended.json as unknown).toEqual({ id, name: "acme", subscription });
      }
    }
  });

  test.each([
    ["acc_mine", 2],
    ["ACC_mine", 2],
    ["", 2],
    ["  ", 2],
    ["a\nb", 2],
    ["x".repeat(201), 2],
    ["acme", 1],
  ])("a name %j is refused in one line", async (name, status) => {
    const ended = await anAdmin().run("account", "create", name);
    expect(ended).toMatchObject({ status, stdout: "", stderr: expect.stringMatching(/^[^\n]+\n$/) });
  });

  test("a name may hold letters of any script, and is trimmed", async () => {
    const admin = anAdmin([]);
    await admin.run("account", "create", "  Ümläut 電 😀 ");
    expect(await admin.run("account", "deactivate", "Ümläut 電 😀")).toMatchObject({ status: 0 });
  });
});

describe("pixel", () => {
  test("create prints an id of its own, or the one that is given", async () => {
    const admin = anAdmin();
    const { json } = await admin.run("pixel", "create", "acme", "--json");
    expect(json as unknown).toEqual({
      id: expect.stringMatching(/^px_\w+$/),
      account: expect.stringMatching(/^acc_/),
      status: "active",
    });
    const plain = await admin.run("pixel", "create", "acme", "--id", "mdb_pxl_01", "--status", "paused");
    expect(plain.stdout).toBe("mdb_pxl_01\n");
    const { json: list } = await admin.run("pixel", "list", "acme", "--json");
    expect(list as unknown).toEqual([json, { id: "mdb_pxl_01", account: json.account, status: "paused" }]);
  });

  test("an id is unique within its account, and free in another", async () => {
    const admin = anAdmin(["acme", "other"]);
    const made = ["acme", "other", "acme"].map(async (account) => admin.run("pixel", "create", account, "--id", "px"));
    const statuses = (await Promise.all(made)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([0, 0, 1]);
  });

  test("set-status prints the pixel as it is now, and refuses one that does not exist", async () => {
    const admin = anAdmin();
    await admin.run("pixel", "create", "acme", "--id", "px");
    const { json } = await admin.run("pixel", "set-status", "acme", "px", "paused", "--json");
    expect(json).toMatchObject({ id: "px", status: "paused" });
    expect(await admin.run("pixel", "set-status", "acme", "none", "paused")).toMatchObject({ status: 1, stdout: "" });
    expect(await admin.run("pixel", "set-status", "acme", "px", "")).toMatchObject({ status: 2, stdout: "" });
  });
});
