/** bun admin follow with what it cannot use: one line, and nothing is begun. */
import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { aFolder } from "../../../support/folder.ts";
import { aSource, follow } from "./following.ts";

describe("a wrong option is refused in one line", () => {
  test.each([
    [["--exec", "true", "--post", "https://crm.example.com"], 2, "either --exec or --post"],
    [["--post", "http://crm.example.com/leads"], 2, "--allow-plain-http"],
    [["--post", "https://me:secret@crm.example.com"], 2, "takes an address"],
    [["--post", "crm"], 2, "takes an address"],
    [["--post", "https://crm.example.com"], 2, "LEADFILE_POST_SECRET"],
    [["--since", "yesterday"], 2, "--since"],
    [["--since", "2026-01-31T09:15:00"], 2, "its offset"],
    [["--since", "2026-13-31"], 2, "--since"],
    [["--overlap", "long"], 2, "--overlap takes"],
    [["--checkpoint", "no/such/folder/cp"], 1, "no/such/folder/cp"],
  ])("%j", async (args, status, says) => {
    const { url, settings } = await aSource(0);
    await refused(follow([url, ...args], { settings }), status, says);
  });

  test("a malformed address, or plain http to another machine", async () => {
    const settings = { LEADFILE_KEY: "lf_0123456789" };
    await refused(follow(["www.example.com"], { settings }), 2, "URL takes the address");
    await refused(follow(["http://www.example.com"], { settings }), 2, "--allow-plain-http");
  });

  test("no key, and one that was revoked", async () => {
    const { url, aRevokedKey } = await aSource(0);
    await refused(follow([url], { input: "\n" }), 2, "LEADFILE_KEY");
    const revoked = aRevokedKey();
    const following = follow([url], { settings: { LEADFILE_KEY: revoked } });
    await refused(following, 1, "revoked_api_key");
    expect(following.errors()).not.toContain(revoked);
  });

  test("a file that is no checkpoint", async () => {
    const { url, settings } = await aSource(1);
    const folder = aFolder();
    writeFileSync(join(folder, "cp"), "years of work");
    await refused(follow([url, "--checkpoint", "cp"], { settings, folder }), 2, "checkpoint cannot be read");
    expect(readFileSync(join(folder, "cp"), "utf8")).toBe("years of work");
  });
});

async function refused(following: ReturnType<typeof follow>, status: number, says: string): Promise<void> {
  expect([await following.exited, following.errors()]).toEqual([status, expect.stringContaining(says)]);
  expect(following.errors().split("\n")).toHaveLength(2);
}
