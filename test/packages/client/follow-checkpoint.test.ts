/** Following over restarts and crashes: a checkpoint keeps the progress, and belongs to one account. */
import { describe, expect, test } from "bun:test";
import { readFileSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileCheckpoint } from "../../../packages/client/src/file.ts";
import { SettingError } from "../../../packages/client/src/leadfile.ts";
import type { Lead } from "../../../src/contract/lead.ts";
import { aLead, someLeads } from "../../support/builders.ts";
import { aFolder } from "../../support/folder.ts";
import { erase as erasePersons } from "../../support/privacy.ts";
import { aCheckpoint, at, connected, followFor, take } from "./connected.ts";

test("the checkpoint is saved before the first lead, and a restart ignores another since", async () => {
  const server = await connected();
  const checkpoint = aCheckpoint();
  const controller = new AbortController();
  const since = "2026-01-31T00:00:00.000Z";
  const running = server.leadfile.leads.follow({ checkpoint, since, signal: controller.signal });
  const ended = running.next();
  while (server.slept.length === 0) await Bun.sleep(1);
  controller.abort();
  expect((await ended).done).toBe(true);
  const [lead] = someLeads(1);
  if (lead !== undefined) server.importMore([lead]);
  expect(await followFor(server, 1, { checkpoint, since: new Date() })).toEqual([lead as Lead]);
});

test("rejects an unreadable checkpoint, and yields nothing again", async () => {
  const server = await connected({ leads: someLeads(1) });
  for (const text of [
    "",
    "{",
    "null",
    "{}",
    '{"version":2,"from":1,"seen":[]}',
    '{"version":1,"from":1,"seen":[[1]]}',
  ]) {
    const source = server.leadfile.leads.follow({ checkpoint: { load: () => text, save: () => undefined } });
    await expect(source.next()).rejects.toBeInstanceOf(SettingError);
  }
  expect(server.line.heads).toEqual([]);
});

test("a checkpoint that cannot be saved ends a start and a restart with its error, before a lead comes again", async () => {
  const server = await connected({ leads: someLeads(2) });
  const checkpoint = aCheckpoint();
  await followFor(server, 1, { checkpoint });
  const save = () => {
    throw new Error("the disk is full");
  };
  for (const load of [checkpoint.load, () => null]) {
    await expect(server.leadfile.leads.follow({ checkpoint: { load, save } }).next()).rejects.toThrow("full");
  }
});

test("a file, readable only by its owner, with a truncated last line repeats that lead, and no other", async () => {
  const leads = someLeads(6);
  const server = await connected({ leads });
  const path = join(aFolder(), "checkpoint.json");
  const begin = () => server.leadfile.leads.follow({ checkpoint: fileCheckpoint(path) });
  const cutOff = () => writeFileSync(path, readFileSync(path, "utf8").slice(0, -7));
  expect(await followFor(server, 4, { checkpoint: fileCheckpoint(path) })).toEqual(leads.slice(0, 4));
  expect((await Bun.file(path).stat()).mode & 0o777).toBe(0o600);
  cutOff();
  const again = begin();
  for (const lead of leads.slice(3, 5)) expect((await again.next()).value).toEqual(lead);
  // The fifth is in hand: the fourth was added behind the line that was cut off.
  expect(await take(begin(), 1)).toEqual(leads.slice(4, 5));
});

test("a checkpoint that is deleted during a follow is not recreated", async () => {
  const server = await connected({ leads: someLeads(4) });
  const path = join(aFolder(), "checkpoint.json");
  const source = server.leadfile.leads.follow({ checkpoint: fileCheckpoint(path) });
  await take(source, 1);
  const next = server.leadfile.leads.follow({ checkpoint: fileCheckpoint(path) });
  for (let count = 0; count < 2; count++) await next.next();
  unlinkSync(path);
  await expect(next.next()).rejects.toThrow("ENOENT");
});

test("a checkpoint is not written through a link, and replaces the rest of a crash", async () => {
  const folder = aFolder();
  const [path, precious] = [join(folder, "leads.checkpoint"), join(folder, "precious")];
  writeFileSync(precious, "years of work");
  symlinkSync(precious, `${path}.next`);
  await fileCheckpoint(path).save("first");
  expect([readFileSync(path, "utf8"), readFileSync(precious, "utf8")]).toEqual(["first", "years of work"]);
  writeFileSync(`${path}.next`, "half of a");
  await fileCheckpoint(path).save("second");
  expect(readFileSync(path, "utf8")).toBe("second");
});

describe("never continues a checkpoint with another account", () => {
  test("with another key it is refused with the time at which a new one begins, and stays unchanged", async () => {
    const [others, leads] = [someLeads(2), someLeads(3)];
    const server = await connected({ leads });
    const checkpoint = aCheckpoint();
    await followFor(server, 3, { checkpoint, overlap: "1m" });
    const before = checkpoint.saved.at(-1);
    const other = server.aClient({ key: server.aKey(server.anAccount({ leads: others })) });
    const refusal = await take(other.leads.follow({ checkpoint, overlap: "1m" }), 1).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(SettingError);
    expect(refusal).toHaveProperty("message", expect.stringContaining("with another key"));
    expect(refusal).toHaveProperty("message", expect.stringContaining(`since ${at(leads[2], -60_000)} begins`));
    expect(checkpoint.saved.at(-1)).toBe(before);
  });

  test("rejects a checkpoint of another address with that address, also for batches", async () => {
    const [others, leads] = [someLeads(2), someLeads(2)];
    const server = await connected({ leads });
    const other = await connected({ leads: others });
    const kept = (await take(server.leadfile.leads.batches(), 2)).at(-1);
    const refused = take(other.leadfile.leads.batches({ checkpoint: kept?.checkpoint }), 1);
    await expect(refused).rejects.toThrow(`with ${server.line.url}, and its last leads are not here`);
  });
});

describe("the same account is followed further", () => {
  const hourMs = 3_600_000;
  /** Leads of eight hours, a quarter of an hour apart. */
  const aDay = () =>
    Array.from({ length: 32 }, (_, n) =>
      aLead({ identified_at: at(someLeads(1)[0], (n * hourMs) / 4), email: null, phone: null }),
    );

  type Server = Awaited<ReturnType<typeof connected>>;
  const renewed = ({ aClient, aKey }: Server) => aClient({ key: aKey() });
  const moved = ({ aClient, aKey, url }: Server) => aClient({ key: aKey(), baseUrl: url });
  const unchanged = ({ leadfile }: Server) => leadfile;
  const aFile = () => fileCheckpoint(join(aFolder(), "checkpoint"));

  test.each([
    ["with a new key after the leads of the last hour were erased", 0, 27, aCheckpoint, renewed],
    ["with a new key after they were erased, with a file that grows", 0, 27, aFile, renewed],
    ["with a new key after every followed lead was erased", 30, 30, aCheckpoint, renewed],
    ["with a new key at a new address if one of the last leads exists", 0, 31, aCheckpoint, moved],
    ["with the same key and address even if none of the last leads exists", 30, 30, aCheckpoint, unchanged],
  ])("%s", async (_, followedFrom, erasedFrom, make, changed) => {
    const leads = aDay();
    const server = await connected({ leads });
    const checkpoint = make();
    const since = leads[followedFrom]?.identified_at;
    const followed = leads.slice(followedFrom);
    expect(await followFor(server, followed.length, { checkpoint, since })).toEqual(followed);
    for (const lead of leads.slice(erasedFrom)) await erase(server, lead);
    const fresh = aLead({ identified_at: at(leads.at(-1), 1) });
    server.importMore([fresh]);
    expect(await followFor({ leadfile: changed(server) }, 1, { checkpoint })).toEqual([fresh]);
  });

  test("with a checkpoint of a version that did not store its account", async () => {
    const leads = someLeads(2);
    const server = await connected({ leads });
    const seen = [["any", Date.parse(leads[0]?.identified_at ?? "")]];
    const checkpoint = aCheckpoint();
    checkpoint.saved.push(JSON.stringify({ version: 1, from: Date.parse(leads[1]?.identified_at ?? ""), seen }));
    expect(await followFor(server, 1, { checkpoint })).toEqual(leads.slice(1));
    expect(checkpoint.saved.at(-1)).toContain(`"source":"${server.line.url} `);
  });

  test("an outage while looking for the last leads is not fatal, and the checkpoint contains no key", async () => {
    const leads = someLeads(2);
    const server = await connected({ leads: leads.slice(0, 1) }, { retries: 0 });
    const checkpoint = aCheckpoint();
    await followFor(server, 1, { checkpoint });
    server.importMore(leads.slice(1));
    server.line.faults.push("busy", "html");
    const key = server.aKey();
    const renewed = server.aClient({ key, retries: 0 });
    expect(await followFor({ leadfile: renewed }, 1, { checkpoint })).toEqual(leads.slice(1));
    for (const text of checkpoint.saved) expect(text).not.toMatch(new RegExp(`${key}|${server.key}`));
  });
});

async function erase(
  { database, account }: Awaited<ReturnType<typeof connected>>,
  lead: Lead | undefined,
): Promise<void> {
  await erasePersons(database, account, [{ kind: "id", value: lead?.id ?? "" }], 0);
}
