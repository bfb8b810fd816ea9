/** Following: each lead once, oldest first, late ones and backlogs too, over outages and limits. */
import { expect, test } from "bun:test";
import { NetworkError } from "../../../packages/client/src/leadfile.ts";
import { dayMs } from "../../../src/contract/calendar.ts";
import type { Lead } from "../../../src/contract/lead.ts";
import { aLead, someLeads } from "../../support/builders.ts";
import { aCheckpoint, at, connected, followFor } from "./connected.ts";

test("yields a late lead within the overlap once, and never an older one", async () => {
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

test("yields a backlog oldest first, complete and once, in bounded memory", async () => {
  const [first] = someLeads(1);
  // Days without a lead, then many at once, then a few.
  const leads = [0, ...Array.from({ length: 1_400 }, (_, n) => dayMs * 40 + n * 50), dayMs * 60];
  const backlog = leads.map((ms) => aLead({ identified_at: at(first, ms - dayMs * 61) }));
  const server = await connected({ leads: backlog });
  expect(await followFor(server, backlog.length, {})).toEqual(backlog);
  // 15 pages hold them all; finding their beginning costs the rest.
  expect(server.line.heads.length).toBeLessThan(150);
  let largest = 0;
  for await (const { leads } of server.leadfile.leads.batches({})) {
    largest = Math.max(largest, leads.length);
    if (leads.at(-1)?.id === backlog.at(-1)?.id) break;
  }
  expect(largest).toBeLessThan(600);
});

test("leads that arrive in a span that was already read are not missed", async () => {
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

test("polls at the interval of every, or slower if the limit requires it", async () => {
  const server = await connected({ limit: 2 });
  const controller = new AbortController();
  const ended = server.leadfile.leads.follow({ every: "20s", signal: controller.signal }).next();
  while (server.line.heads.length < 5) await Bun.sleep(1);
  controller.abort();
  await ended;
  // The time is 12:00:10: polls at :10 and :30, then the window is used up until 12:01:00.
  expect(server.slept.slice(0, 4)).toEqual([20_000, 20_000, 10_000, 10_000]);
});

test("the cost per lead does not grow with the overlap", async () => {
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

test("an outage is reported, and the leads that arrived during it follow", async () => {
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

test.each([
  ["once retries are used up", { retries: 0 }],
  ["that is longer than the maximum wait", { longestWait: "5s" }],
] as const)("waits between polls for a Retry-After %s", async (_, options) => {
  const leads = someLeads(1);
  const server = await connected({ leads }, options);
  server.line.faults.push("busy");
  const told: (number | null)[] = [];
  expect(await followFor(server, 1, { every: "1s", onError: (error) => told.push(error.retryAfterMs) })).toEqual(leads);
  // The line asks for 7 seconds, and the clock moves by nothing but what was slept.
  expect([server.slept, told]).toEqual([[7_000], [7_000]]);
});
