/** Keys that read, imports between them, days that pass: a server's store, and a model that remembers every answer. */

import { pino } from "pino";
import { createApp } from "../../../src/api/app.ts";
import { dayMs, dayOf } from "../../../src/contract/calendar.ts";
import { createKey, digestOf, prefixOf } from "../../../src/contract/key.ts";
import type { Lead } from "../../../src/contract/lead.ts";
import { formatTime } from "../../../src/contract/time.ts";
import { listBatches } from "../../../src/db/imports.ts";
import { undoBatch } from "../../../src/import/write/undo.ts";
import { createLimiter } from "../../../src/limiter.ts";
import type { PersonalData } from "../../../src/privacy/find.ts";
import { openServedStore, type ServedStore } from "../../../src/served-store.ts";
import { imported } from "../../db/importing.ts";
import { openAdminStore } from "../../support/admin-store.ts";
import { aLead, newLead, noonMs } from "../../support/builders.ts";
import { anAccount } from "../../support/harness.ts";
import { held, retain } from "../../support/privacy.ts";

/** A number from 0 up to one below. */
export type Below = (bound: number) => number;

export interface World {
  /** One step: a page, an import, a pause, a restart. */
  step(): Promise<void>;
  /** Compares the ledger with the model. */
  compare(): Promise<Comparison>;
  close(): void;
}

export interface Comparison {
  readonly pages: number;
  /** Leads that a key received, as the model knows. */
  readonly received: number;
  /** Times that a key received a lead while the ledger was not kept. */
  readonly unrecorded: number;
  /** Leads that the ledger does not name as received, and times that no gap of the lead covers. */
  readonly missed: number;
  /** Leads that the ledger names and a key did not receive, as `possibly`, and without it. */
  readonly possiblyTooMuch: number;
  readonly surelyTooMuch: number;
}

const pixels = ["px_site", "px_shop", "px_blog"];
const states = ["CA", "NY", "TX", null];
const cities = ["San Diego", "Austin", null];

/** With changes, leads are also replaced, taken back and erased by age, and come again. */
export function openWorld(file: string, below: Below, changes = false): World {
  const admin = openAdminStore(file);
  const account = anAccount(admin);
  for (const id of pixels) admin.pixels.create(account.number, { id, status: "active" }, noonMs);
  const secrets = Array.from({ length: 4 }, () => createKey());
  const keyIds = secrets.map((secret) => {
    const key = { digest: digestOf(secret), prefix: prefixOf(secret), label: null };
    return admin.keys.create(account.number, key, noonMs).id;
  });
  // The first has a state of its own: pages of all leads would hide what was noted wrongly of its pages.
  const readers = secrets.map(
    (secret, place): Reader => ({ secret, only: place === 0 ? "TX" : null, cursor: null, since: null }),
  );
  const model: Model = { received: new Map(), unrecorded: [] };
  let nowMs = noonMs;
  const now = () => nowMs;
  let keepsLedger = true;
  let served = openServedStore(file, keepsLedger, now);
  let app = appOf(served, now);
  const brought: Lead[][] = [];
  let pages = 0;

  async function read(): Promise<void> {
    const place = below(readers.length);
    const reader = readers[place];
    if (reader === undefined) return;
    const search = questionOf(reader, below, nowMs);
    const body = await ask(app, reader.secret, search);
    pages++;
    for (const { id } of body.data) {
      const pair = `${id} ${keyIds[place]}`;
      if (!keepsLedger) model.unrecorded.push({ pair, id, ms: nowMs });
      else model.received.set(pair, { first: model.received.get(pair)?.first ?? dayOf(nowMs), last: dayOf(nowMs) });
    }
    reader.cursor = body.next_cursor;
    reader.since = body.data[0]?.identified_at ?? reader.since;
  }

  /** Most imports run at night, before their leads are read. */
  async function importAtNight(): Promise<void> {
    if (below(5) > 0) nowMs = nowMs - (nowMs % dayMs) + dayMs + below(3_600_000);
    const leads = someLeads(below, nowMs);
    brought.push(leads);
    await importThem(leads, "skip");
  }

  async function importThem(leads: readonly Lead[], onDuplicate: "skip" | "replace"): Promise<void> {
    const options = { onDuplicate, createPixels: false, dryRun: false };
    await imported(admin, account, leads.map(newLead), { options, now: () => nowMs });
  }

  /** Files come again, with other values. */
  async function importAgain(): Promise<void> {
    const state = states[below(4)] ?? null;
    const leads = brought[below(brought.length)] ?? [];
    const changed = leads.map((lead) => (below(4) === 0 ? { ...lead, state } : lead));
    await importThem(changed, below(2) === 0 ? "skip" : "replace");
  }

  /** An import is taken back, and mostly comes again: some days later, or with the right times. */
  async function undo(): Promise<void> {
    const all = listBatches(admin.database.read, account.number).filter(
      ({ overwritten, undoneMs }) => overwritten === 0 && undoneMs === null,
    );
    const one = all[below(Math.min(3, all.length))];
    if (one === undefined) return;
    const within = ({ identified_at: at }: Lead) =>
      Date.parse(at) >= (one.oldestMs ?? 0) && Date.parse(at) <= (one.newestMs ?? 0);
    const taken = brought.flat().filter(within);
    for await (const _ of undoBatch(admin.database, account, one, nowMs));
    nowMs += below(3) * dayMs;
    const aheadMs = below(2) * below(60 * dayMs);
    const times = ({ identified_at: at }: Lead) => ({ identified_at: formatTime(Date.parse(at) - aheadMs) });
    if (below(3) > 0)
      await importThem(
        taken.map((lead) => ({ ...lead, ...times(lead) })),
        "skip",
      );
  }

  /** Older leads go for a time, and may come again after that. */
  async function retainSome(): Promise<void> {
    await retain(admin.database, account, below(2) === 0 ? 10 : null, nowMs);
  }

  async function change(): Promise<void> {
    const what = below(7);
    if (what === 0) await retainSome();
    else if (what < 4) await undo();
    else await importAgain();
  }

  /** A server that starts may keep no ledger. */
  function restart(): void {
    served.close();
    keepsLedger = below(3) > 0;
    served = openServedStore(file, keepsLedger, now);
    app = appOf(served, now);
  }

  return {
    async step() {
      const what = below(200);
      if (what < 2) restart();
      else if (what < 5) await importAtNight();
      else if (changes && what < 8) await change();
      else if (what < 20) served.flush();
      else if (what < 24) nowMs += below(dayMs);
      else await read();
      nowMs += below(60_000);
    },
    async compare() {
      while (served.flush() !== "idle");
      const ids = [...admin.leads.export(account.number)].flat().map((doc): string => JSON.parse(doc).id);
      const marks = ids.map((value) => ({ kind: "id", value }) as const);
      const found = await held(admin.database, account, marks, nowMs);
      const said = new Map(ids.map((id, place) => [id, found[place] ?? { received: [], gaps: [] }]));
      return { pages, ...difference(model, said) };
    },
    close() {
      served.close();
      admin.close();
    },
  };
}

interface Reader {
  readonly secret: string;
  /** The state without which it never asks. */
  readonly only: string | null;
  cursor: string | null;
  since: string | null;
}

type Answered = { readonly data: Lead[]; readonly next_cursor: string | null };

function appOf(store: ServedStore, now: () => number) {
  const settings = { baseUrl: "http://localhost", trustProxy: false, publicMetrics: false };
  const inflow = () => null;
  const limiter = createLimiter(1_000_000_000);
  return createApp(
    { store, limiter, log: pino({ level: "silent" }), now, inflow, ...settings },
    { requestIP: () => null },
  );
}

async function ask(app: ReturnType<typeof appOf>, secret: string, search: string): Promise<Answered> {
  const headers = { Authorization: `Bearer ${secret}` };
  const answer = await app.fetch(new Request(`http://localhost/api/v1/leads?${search}`, { headers }));
  return (await answer.json()) as Answered; // A test of its own holds the shape.
}

/** A poll, a walk that goes on, or anything at all. */
function questionOf({ only, cursor, since }: Reader, below: Below, nowMs: number): string {
  const asked = new URLSearchParams({ limit: String(1 + below(100)) });
  const how = below(4);
  if (how === 0 && since !== null) asked.set("since", since);
  else if (how < 3 && cursor !== null) asked.set("before", cursor);
  else if (below(2) === 0) asked.set("before", formatTime(nowMs - below(40 * dayMs)));
  if (only !== null) asked.set("state", only);
  if (below(4) > 0) return asked.toString();
  const filters = { pixel_id: pixels[below(3)], state: only ?? states[below(4)], city: cities[below(3)] };
  for (const [name, value] of Object.entries(filters)) if (value && below(2) === 0) asked.set(name, value);
  if (below(3) === 0) asked.set("has_email", "true");
  return asked.toString();
}

/** Mostly what has happened since, and sometimes what comes weeks late. */
function someLeads(below: Below, nowMs: number): Lead[] {
  const backMs = below(10) === 0 ? 30 * dayMs : dayMs / 2;
  return Array.from({ length: 1 + below(80) }, () =>
    aLead({
      identified_at: formatTime(nowMs - below(backMs)),
      pixel_id: pixels[below(3)] ?? "",
      state: states[below(4)] ?? null,
      city: cities[below(3)] ?? null,
      email: below(3) === 0 ? null : "someone@example.com",
    }),
  );
}

/** The leads that keys received: while the ledger was kept, on the first and the last day, and while it was not. */
interface Model {
  readonly received: Map<string, { readonly first: string; readonly last: string }>;
  readonly unrecorded: { readonly pair: string; readonly id: string; readonly ms: number }[];
}

function difference(model: Model, said: ReadonlyMap<string, Pick<PersonalData, "received" | "gaps">>) {
  const bySaying = new Map(
    [...said.values()].flatMap(({ received }) => received).map((one) => [`${one.id} ${one.key}`, one]),
  );
  const isThere = (pair: string) => said.has(pair.split(" ")[0] ?? "");
  const received = [...model.received].filter(([pair]) => isThere(pair));
  const missed = received.filter(([pair, { first, last }]) => {
    const one = bySaying.get(pair);
    return one === undefined || one.first > first || one.last < last;
  });
  const unrecorded = model.unrecorded.filter(({ pair }) => isThere(pair));
  const missedInGaps = unrecorded.filter(({ id, ms }) => {
    const gaps = said.get(id)?.gaps ?? [];
    return !gaps.some(({ from, to }) => Date.parse(from) <= ms && ms <= Date.parse(to));
  });
  const known = new Set([...received.map(([pair]) => pair), ...unrecorded.map(({ pair }) => pair)]);
  const tooMuch = [...bySaying].filter(([pair]) => !known.has(pair)).map(([, one]) => one);
  return {
    received: known.size,
    unrecorded: unrecorded.length,
    missed: missed.length + missedInGaps.length,
    possiblyTooMuch: tooMuch.filter(({ possibly }) => possibly).length,
    surelyTooMuch: tooMuch.filter(({ possibly }) => !possibly).length,
  };
}
