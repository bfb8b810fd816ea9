/** bun admin account and pixel: creating, listing, and changing them. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { anAdmin } from "../support/admin.ts";

describe("account", () => {
  test("create prints the ID of an account with an active subscription, and list shows all in this order", async () => {
    const admin = anAdmin([]);
    const { stdout } = await admin.run("account", "create", "b");
    expect(stdout).toMatch(/^acc_[0-9A-Za-z]+\n$/);
    const { json } = await admin.run("account", "create", "Harbor & Pine", "--json");
    const account = (name: string) => ({ id: expect.stringMatching(/^acc_/), name, subscription: "active" });
    expect(json as unknown).toEqual(account("Harbor & Pine"));
    const list = (await admin.run("account", "list", "--json")).json;
    expect(list as unknown).toEqual([{ ...account("b"), id: stdout.trim() }, json]);
  });

  test("a file without an account is named, because DATABASE_PATH may be mistyped", async () => {
    const admin = anAdmin([]);
    await admin.run("account", "create", "acme");
    new Database(admin.file).run("DELETE FROM accounts");
    const advice = `There is no account in ${admin.file} yet. To create one: bun admin account create NAME\n`;
    expect(await admin.run("account", "list")).toMatchObject({ status: 0, stdout: advice });
    const keys = await admin.run("key", "list", "acme");
    expect([keys.status, keys.stderr]).toEqual([1, expect.stringContaining(advice)]);
  });

  test("list of a file that cannot be read prints the error, and exits with 1", async () => {
    // A name that no file system takes stands for a folder without permission, which root may read.
    const admin = anAdmin([], { DATABASE_PATH: `${"x".repeat(300)}.db` });
    const { status, stdout, stderr } = await admin.run("account", "list", "--json");
    expect([status, stdout, stderr]).toEqual([1, "", expect.stringMatching(/cannot be read \(ENAMETOOLONG\)/)]);
  });

  test("activate and deactivate set the subscription, by ID or by name, and may be repeated", async () => {
    const admin = anAdmin([]);
    const { id } = (await admin.run("account", "create", "acme", "--json")).json;
    for (const verb of ["deactivate", "deactivate", "activate"]) {
      const subscription = verb === "activate" ? "active" : "inactive";
      for (const named of [id, "acme"]) {
        const { json } = await admin.run("account", verb, named, "--json");
        expect(json as unknown).toEqual({ id, name: "acme", subscription });
      }
    }
  });

  test.each(["acc_mine", "ACC_mine", "", "  ", "a\nb", "x".repeat(201), "acme"])(
    "a name %j is rejected in one line",
    async (name) => {
      const ended = await anAdmin().run("account", "create", name);
      // That of another account is valid.
      const status = name === "acme" ? 1 : 2;
      expect(ended).toMatchObject({ status, stdout: "", stderr: expect.stringMatching(/^[^\n]+\n$/) });
    },
  );

  test("a name may have letters of any script, and is trimmed", async () => {
    const admin = anAdmin([]);
    await admin.run("account", "create", "  Ümläut 電 😀 ");
    expect(await admin.run("account", "deactivate", "Ümläut 電 😀")).toMatchObject({ status: 0 });
  });
});

test("pixel create prints a generated ID or the given one, which is unique within its account", async () => {
  const admin = anAdmin(["acme", "other"]);
  const { json } = await admin.run("pixel", "create", "acme", "--json");
  const account = expect.stringMatching(/^acc_/);
  expect(json as unknown).toEqual({ id: expect.stringMatching(/^px_\w+$/), account, status: "active" });
  const create = (name: string) => admin.run("pixel", "create", name, "--id", "px", "--status", "paused");
  expect((await create("acme")).stdout).toBe("px\n");
  expect([(await create("acme")).status, (await create("other")).status]).toEqual([1, 0]);
  const list = (await admin.run("pixel", "list", "acme", "--json")).json;
  expect(list as unknown).toEqual([json, { id: "px", account: json.account, status: "paused" }]);
});

test("pixel set-status prints the changed pixel, and rejects one that does not exist", async () => {
  const admin = anAdmin();
  await admin.run("pixel", "create", "acme", "--id", "px");
  const { json } = await admin.run("pixel", "set-status", "acme", "px", "paused", "--json");
  expect(json).toMatchObject({ id: "px", status: "paused" });
  expect(await admin.run("pixel", "set-status", "acme", "none", "paused")).toMatchObject({ status: 1, stdout: "" });
  expect(await admin.run("pixel", "set-status", "acme", "px", "")).toMatchObject({ status: 2, stdout: "" });
});
