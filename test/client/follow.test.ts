/** Following: each lead once, oldest first, over restarts, crashes, outages and late leads. */
import { expect, test } from "bun:test";
import { readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileCheckpoint } from "../../client/src/file.ts";
import { type Checkpoint, NetworkError, RevokedApiKeyError, SettingError } from "../../client/src/leadfile.ts";
import type { Lead } from "../../src/contract/lead.ts";
import { dayMs } from "../../src/contract/time.ts";
import { aLead, someLeads } from "../builders.ts";
import { aFolder } from "../folder.ts";
import { connected, take } from "./connected.ts";

/** A checkpoint in memory, and every text that it was given. */
function aCheckpoint(): Checkpoint & { readonly saved: string[] } {
  const saved: string[] = [];
  return { saved, load: () => saved.at(-1), save: (text) => saved.push(text) };
}

/** Follows until so many leads were dealt with, and ends by the signal. */
async function followFor(
  { leadfile }: Pick<Awaited<ReturnType<typeof connected>>, "leadfile">,
  count: number,
  options: Parameters<typeof leadfile.leads.follow>[0],
): Promise<Lead[]> {
  const controller = new AbortController();
  const got: Lead[] = [];
  for await (const lead of leadfile.leads.follow({ ...options, signal: controller.signal })) {
    if (got.push(lead) === count) controller.abort();
  }
  return got;
}

const at = (lead: Lead | undefined, ms: number) => new Date(Date.parse(lead?.identified_at ?? "") + ms).toISOString();

test("what there is comes oldest first, then what is imported, once each", async () => {
  const server = await connected({ leads: someLeads(3) });
  const first = server.leadfile.leads.follow({ every: "10s" });
  const before = await Promise.all([first.next(), first.next(), first.next()]);
  const more = someLeads(2);
  const next = first.next();
  server.importMore(more);
  expect((await next).value).toEqual(more[0]);
  expect((await first.next()).value).toEqual(more[1]);
  const moments = before.map(({ value }) => value?.identified_at);
  expect(moments).toEqual(moments.toSorted());
  await first.return();
});

test("since is the beginning, itself included, and nothing older ever comes", async () => {
  const leads = someLeads(5);
  const server = await connected({ leads });
  const got = await followFor(server, 3, { since: leads[2]?.identified_at });
  expect(got).toEqual(leads.slice(2));
});

test("a restart repeats nothing and loses nothing, and goes on where it was though since is another", async () => {
  const leads = someLeads(7);
  const server = await connected({ leads });
  const checkpoint = aCheckpoint();
  const first = await followFor(server, 3, { checkpoint, since: leads[1]?.identified_at });
  const second = await followFor(server, 3, { checkpoint, since: new Date() });
  expect([...first, ...second]).toEqual(leads.slice(1));
});

test("the beginning is kept before the first lead comes", async () => {
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

test("after a crash, a break or a throw the one lead in hand comes again, and no other", async () => {
  const leads = someLeads(4);
  const server = await connected({ leads });
  const checkpoint = aCheckpoint();
  const crash = server.leadfile.leads.follow({ checkpoint });
  for (let count = 0; count < 2; count++) await crash.next();
  expect((await take(server.leadfile.leads.follow({ checkpoint }), 1))[0]).toEqual(leads[1]);
  const failing = async () => {
    for await (const lead of server.leadfile.leads.follow({ checkpoint })) throw new Error(lead.id);
  };
  await expect(failing()).rejects.toThrow(leads[1]?.id ?? "none");
  expect(await followFor(server, 3, { checkpoint })).toEqual(leads.slice(1));
});

test("batches with their checkpoint kept in one step give each lead exactly once, whenever they are cut off", async () => {
  const leads = someLeads(9);
  const server = await connected({ leads: leads.slice(0, 4) });
  const kept: { leads: Lead[]; checkpoint: string | null } = { leads: [], checkpoint: null };
  for (let run = 0; kept.leads.length < leads.length; run++) {
    if (run === 2) server.importMore(leads.slice(4));
    const source = server.leadfile.leads.batches({ checkpoint: kept.checkpoint });
    for (let batch = 0; batch < 2; batch++) {
      const { value } = await source.next();
      // Every other run crashes with its first batch in hand.
      if (value === undefined || run % 2 === 0) break;
      kept.leads.push(...value.leads);
      kept.checkpoint = value.checkpoint;
      if (value.leads.length > 0) break;
    }
  }
  expect(kept.leads).toEqual(leads);
});

test("a late lead within the overlap comes, once; an older one never", async () => {
  const leads = someLeads(2);
  const server = await connected({ leads });
  const checkpoint = aCheckpoint();
  await followFor(server, 2, { checkpoint, overlap: "10s" });
  const late = aLead({ identified_at: at(leads[1], -10_000) });
  const tooLate = aLead({ identified_at: at(leads[1], -10_001) });
  const fresh = aLead({ identified_at: at(leads[1], 1) });
  server.importMore([tooLate, late, fresh]);
  expect(await followFor(server, 2, { checkpoint, overlap: "10s" })).toEqual([late, fresh]);
  const last = aLead({ identified_at: at(leads[1], 2) });
  server.importMore([last]);
  expect(await followFor(server, 1, { checkpoint, overlap: "1d" })).toEqual([last]);
});

test("a backlog comes oldest first, whole and once, in parts that fit into memory", async () => {
  const [first] = someLeads(1);
  // Days without a lead, then many at once, then a few.
  const leads = [0, ...Array.from({ length: 1_400 }, (_, n) => dayMs * 40 + n * 50), dayMs * 60];
  const backlog = leads.map((ms) => aLead({ identified_at: at(first, ms - dayMs * 61) }));
  const server = await connected({ leads: backlog });
  expect(await followFor(server, backlog.length, {})).toEqual(backlog);
  // 15 pages hold them all; finding where they lie costs the rest.
  expect(server.line.heads.length).toBeLessThan(150);
  let largest = 0;
  for await (const { leads } of server.leadfile.leads.batches({})) {
    largest = Math.max(largest, leads.length);
    if (leads.at(-1)?.id === backlog.at(-1)?.id) break;
  }
  expect(largest).toBeLessThan(600);
});

test("leads that come while a backlog is read are not passed, though they lie in a part that was read", async () => {
  const leads = Array.from({ length: 700 }, (_, n) => aLead({ identified_at: at(someLeads(1)[0], n * 1000) }));
  const server = await connected({ leads });
  const source = server.leadfile.leads.follow({ overlap: "10m", every: 0 });
  const got: Lead[] = [];
  for (let count = 0; count < 200; count++) got.push((await source.next()).value as Lead);
  const late = aLead({ identified_at: at(leads.at(-1), -599_500) });
  const newest = aLead({ identified_at: at(leads.at(-1), 3_600_000) });
  server.importMore([late]);
  server.importMore([newest]);
  while (got.length < 702) got.push((await source.next()).value as Lead);
  await source.return();
  expect(new Set(got.map(({ id }) => id)).size).toBe(702);
  expect(got.map(({ id }) => id)).toContain(late.id);
});

test("an outage ends nothing: it is told of, and what came meanwhile follows", async () => {
  const leads = someLeads(2);
  const server = await connected({ leads: leads.slice(0, 1) }, { retries: 1 });
  const troubles: string[] = [];
  const source = server.leadfile.leads.follow({ every: "1m", onError: (error) => troubles.push(error.name) });
  await source.next();
  server.line.faults.push("drop", "drop", "html", "html", "garbage", "garbage");
  server.importMore(leads.slice(1));
  expect((await source.next()).value).toEqual(leads[1]);
  expect(troubles).toEqual([NetworkError.name, "UnexpectedAnswerError", "UnexpectedAnswerError"]);
  await source.return();
});

test("a follower whose patience with the limit is over waits as long as Retry-After asks before its next poll", async () => {
  const leads = someLeads(1);
  const server = await connected({ leads }, { retries: 0 });
  server.line.faults.push("busy");
  const [lead] = await followFor(server, 1, { every: "1s" });
  expect(lead).toEqual(leads[0] as Lead);
  // The line asks for 7 seconds, and the clock moves by nothing but what was slept.
  expect(server.slept).toEqual([7_000]);
});

test("a Retry-After beyond the longest wait is waited for all the same, between two polls", async () => {
  const server = await connected({ leads: someLeads(1) }, { longestWait: "5s" });
  server.line.faults.push("busy");
  const told: (number | null)[] = [];
  await followFor(server, 1, { every: "1s", onError: (error) => told.push(error.retryAfterMs) });
  expect([server.slept, told]).toEqual([[7_000], [7_000]]);
});

test("what will not pass ends it with its error", async () => {
  const server = await connected();
  const leadfile = server.aClient({ key: server.aRevokedKey() });
  await expect(leadfile.leads.follow().next()).rejects.toBeInstanceOf(RevokedApiKeyError);
});

test("polls keep to every, and to the limit when that is tighter", async () => {
  const server = await connected({ limit: 2 });
  const controller = new AbortController();
  const ended = server.leadfile.leads.follow({ every: "20s", signal: controller.signal }).next();
  while (server.line.heads.length < 5) await Bun.sleep(1);
  controller.abort();
  await ended;
  // The clock stands at 12:00:10: polls at :10 and :30, then the window is used up until 12:01:00.
  expect(server.slept.slice(0, 4)).toEqual([20_000, 20_000, 10_000, 10_000]);
});

test("a checkpoint that cannot be read is refused, and nothing is given anew", async () => {
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

test("a checkpoint that cannot be saved ends the loop with its own error", async () => {
  const server = await connected({ leads: someLeads(1) });
  const save = () => {
    throw new Error("the disk is full");
  };
  await expect(take(server.leadfile.leads.follow({ checkpoint: { load: () => null, save } }), 1)).rejects.toThrow(
    "full",
  );
});

test("what a lead costs does not grow with the leads of the overlap", async () => {
  const leads = someLeads(1_500);
  const server = await connected({ leads });
  let text = "";
  let written = 0;
  const write = (next: string, added: string) => {
    text = next;
    written += added.length;
  };
  const checkpoint = {
    load: () => text || null,
    save: (whole: string) => write(whole, whole),
    add: (line: string) => write(text + line, line),
  };
  const first = await followFor(server, 1_400, { checkpoint });
  expect(written).toBeLessThan(1_400 * 200);
  expect([...first, ...(await followFor(server, 100, { checkpoint }))]).toEqual(leads);
});

test("a file whose last line a crash has cut off gives that lead again, and no other, now and after another crash", async () => {
  const leads = someLeads(6);
  const server = await connected({ leads });
  const path = join(aFolder(), "checkpoint.json");
  const begin = () => server.leadfile.leads.follow({ checkpoint: fileCheckpoint(path) });
  const cutOff = () => writeFileSync(path, readFileSync(path, "utf8").slice(0, -7));
  expect(await followFor(server, 4, { checkpoint: fileCheckpoint(path) })).toEqual(leads.slice(0, 4));
  cutOff();
  const again = begin();
  for (const lead of leads.slice(3, 5)) expect((await again.next()).value).toEqual(lead);
  // The fifth is in hand: the fourth was added behind the line that was cut off.
  expect(await take(begin(), 1)).toEqual(leads.slice(4, 5));
});

test("a checkpoint that is taken away meanwhile is not begun anew", async () => {
  const server = await connected({ leads: someLeads(4) });
  const path = join(aFolder(), "checkpoint.json");
  const source = server.leadfile.leads.follow({ checkpoint: fileCheckpoint(path) });
  await take(source, 1);
  const next = server.leadfile.leads.follow({ checkpoint: fileCheckpoint(path) });
  for (let count = 0; count < 2; count++) await next.next();
  unlinkSync(path);
  await expect(next.next()).rejects.toThrow("ENOENT");
});

test("a file keeps the checkpoint, whole, for its owner alone", async () => {
  const leads = someLeads(3);
  const server = await connected({ leads });
  const path = join(aFolder(), "checkpoint.json");
  const first = await followFor(server, 2, { checkpoint: fileCheckpoint(path) });
  writeFileSync(`${path}.next`, "half of a te");
  const second = await followFor(server, 1, { checkpoint: fileCheckpoint(path) });
  expect([...first, ...second]).toEqual(leads);
  expect(JSON.parse(readFileSync(path, "utf8").split("\n", 1)[0] ?? "")).toMatchObject({ version: 1 });
  expect((await Bun.file(path).stat()).mode & 0o777).toBe(0o600);
});
