/** Following over outages and limits: what passes is waited for, what does not ends it. */
import { expect, test } from "bun:test";
import { NetworkError, RevokedApiKeyError } from "../../../packages/client/src/leadfile.ts";
import type { Lead } from "../../../src/contract/lead.ts";
import { someLeads } from "../../support/builders.ts";
import { connected } from "./connected.ts";
import { followFor } from "./followed.ts";

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
