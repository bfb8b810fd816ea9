/** Keys that read, imports between them, days that pass: a server's store, and a model that remembers every answer. */
import { pino } from "pino";
import { createApp } from "../../../../src/api/app.ts";
import { createLimiter } from "../../../../src/api/limiter.ts";
import { dayMs, dayOf } from "../../../../src/contract/calendar.ts";
import type { Lead } from "../../../../src/contract/lead.ts";
import { formatTime } from "../../../../src/contract/time.ts";
import type { Account } from "../../../../src/db/accounts.ts";
import type { LeadDatabase } from "../../../../src/db/connection.ts";
import { listImports } from "../../../../src/db/imports.ts";
import { undoImport } from "../../../../src/import/write/undo.ts";
import type { PersonalData } from "../../../../src/privacy/find.ts";
import { openServedStore, type ServedStore } from "../../../../src/server/store.ts";
import { imported } from "../../../../test/db/importing.ts";
import { aLead, newLead, noonMs } from "../../../../test/support/builders.ts";
import { aKey, anAccount, documentsOf, openTestDatabase } from "../../../../test/support/database.ts";
import { held, retain } from "../../../../test/support/privacy.ts";
import type { Random } from "../../../random.ts";

const pixels = ["px_site", "px_shop", "px_blog"] as const;
const states = ["CA", "NY", "TX", null] as const;
const cities = ["San Diego", "Austin", null] as const;

/** A client with its key, and what it has read last. */
interface Client {
  readonly secret: string;
  /** The ID of the key. */
  readonly key: string;
  /** The state without which it never asks; null if it asks for all. */
  readonly only: string | null;
  cursor: string | null;
  since: string | null;
}

/** The leads that keys received, by the ID of the lead and of the key. */
interface Model {
  /** While the ledger was kept: on the first and the last day. */
  readonly received: Map<string, { readonly first: string; readonly last: string }>;
  /** While it was not. */
  readonly unrecorded: { readonly pair: string; readonly id: string; readonly ms: number }[];
}

type Answered = { readonly data: Lead[]; readonly next_cursor: string | null };

/** A file with clients, imports, and a server. If it has changes, leads are also replaced, undone, and erased by age. */
export class World {
  readonly #model: Model = { received: new Map(), unrecorded: [] };
  readonly #database: LeadDatabase;
  readonly #account: Account;
  readonly #clients: readonly [Client, ...Client[]];
  readonly #files: Lead[][] = [];
  #served: ServedStore;
  #app: ReturnType<typeof appOf>;
  #keepsLedger = true;
  #nowMs = noonMs;
  #pages = 0;

  constructor(
    readonly file: string,
    readonly random: Random,
    readonly hasChanges: boolean,
  ) {
    this.#database = openTestDatabase(file);
    this.#account = anAccount(this.#database, { pixels: pixels.map((id) => ({ id, status: "active" })) });
    // The first has a state of its own: pages of all leads would hide what was noted wrongly of its pages.
    this.#clients = [this.#aClient("TX"), this.#aClient(), this.#aClient(), this.#aClient()];
    this.#served = openServedStore(file, true, this.#now);
    this.#app = appOf(this.#served, this.#now);
  }

  readonly #now = () => this.#nowMs;

  #aClient(only: string | null = null): Client {
    const { secret, id } = aKey(this.#database, this.#account);
    return { secret, key: id, only, cursor: null, since: null };
  }

  /** One step: a page, an import, a pause, a restart. */
  async step(): Promise<void> {
    const { random } = this;
    const what = random.below(200);
    if (what < 2) this.#restart();
    else if (what < 5) await this.#importAtNight();
    else if (this.hasChanges && what < 8) await this.#change();
    else if (what < 20) this.#served.flush();
    else if (what < 24) this.#nowMs += random.below(dayMs);
    else await this.#read(random.pick(this.#clients));
    this.#nowMs += random.below(60_000);
  }

  async #read(client: Client): Promise<void> {
    const body = await ask(this.#app, client.secret, questionOf(client, this.random, this.#nowMs));
    this.#pages++;
    const day = dayOf(this.#nowMs);
    for (const { id } of body.data) {
      const pair = `${id} ${client.key}`;
      const first = this.#model.received.get(pair)?.first ?? day;
      if (this.#keepsLedger) this.#model.received.set(pair, { first, last: day });
      else this.#model.unrecorded.push({ pair, id, ms: this.#nowMs });
    }
    client.cursor = body.next_cursor;
    client.since = body.data[0]?.identified_at ?? client.since;
  }

  /** Most imports run at night, before their leads are read. */
  async #importAtNight(): Promise<void> {
    const { random } = this;
    if (random.below(5) > 0) this.#nowMs = this.#nowMs - (this.#nowMs % dayMs) + dayMs + random.below(3_600_000);
    const leads = someLeads(random, this.#nowMs);
    this.#files.push(leads);
    await this.#import(leads);
  }

  async #import(leads: readonly Lead[], onDuplicate: "skip" | "replace" = "skip"): Promise<void> {
    const options = { onDuplicate, createPixels: false, dryRun: false };
    await imported(this.#database, this.#account, leads.map(newLead), { options, now: this.#now });
  }

  async #change(): Promise<void> {
    const what = this.random.below(7);
    // Older leads go for a time, and may come again after that.
    if (what === 0) await retain(this.#database, this.#account, this.random.pick([10, null]), this.#nowMs);
    else if (what < 4) await this.#undo();
    else await this.#importAgain();
  }

  /** An import is undone, and mostly comes again: some days later, or with the right times. */
  async #undo(): Promise<void> {
    const { random } = this;
    const database = this.#database;
    const all = listImports(database.read, this.#account.number).filter(
      ({ overwritten, undoneMs }) => overwritten === 0 && undoneMs === null,
    );
    const one = all[random.below(Math.min(3, all.length))];
    if (one === undefined) return;
    const [oldestMs, newestMs] = [one.oldestMs ?? 0, one.newestMs ?? 0];
    const timed = this.#files.flat().map((lead) => ({ lead, ms: Date.parse(lead.identified_at) }));
    const undone = timed.filter(({ ms }) => oldestMs <= ms && ms <= newestMs);
    for await (const _ of undoImport(database, this.#account, one, this.#nowMs));
    this.#nowMs += random.below(3) * dayMs;
    const aheadMs = random.below(2) * random.below(60 * dayMs);
    if (random.below(3) > 0)
      await this.#import(undone.map(({ lead, ms }) => ({ ...lead, identified_at: formatTime(ms - aheadMs) })));
  }

  /** Files come again, with other values. */
  async #importAgain(): Promise<void> {
    const { random } = this;
    const state = random.pick(states);
    const leads = this.#files[random.below(this.#files.length)] ?? [];
    const changed = leads.map((lead) => (random.below(4) === 0 ? { ...lead, state } : lead));
    await this.#import(changed, random.pick(["skip", "replace"]));
  }

  /** A server that starts may keep no ledger. */
  #restart(): void {
    void this.#served.close();
    this.#keepsLedger = this.random.below(3) > 0;
    this.#served = openServedStore(this.file, this.#keepsLedger, this.#now);
    this.#app = appOf(this.#served, this.#now);
  }

  /** Compares the ledger with the model. */
  async compare() {
    while (this.#served.flush() !== "idle");
    const ids = documentsOf(this.#database, this.#account.number).map((doc): string => JSON.parse(doc).id);
    const persons = ids.map((value) => ({ kind: "id", value }) as const);
    const found = await held(this.#database, this.#account, persons, this.#nowMs);
    const byId = new Map(ids.map((id, place) => [id, found[place] ?? { received: [], gaps: [] }]));
    return { pages: this.#pages, ...difference(this.#model, byId) };
  }

  close(): void {
    void this.#served.close();
    this.#database.close();
  }
}

function appOf(store: ServedStore, now: () => number) {
  const settings = {
    baseUrl: "http://localhost",
    trustProxy: false,
    publicMetrics: false,
    metricsToken: null,
    inflow: () => null,
  };
  const parts = { store, limiter: createLimiter(1_000_000_000), log: pino({ level: "silent" }), now };
  return createApp({ ...parts, ...settings }, { requestIP: () => null });
}

async function ask(app: ReturnType<typeof appOf>, secret: string, search: string): Promise<Answered> {
  const headers = { Authorization: `Bearer ${secret}` };
  const answer = await app.fetch(new Request(`http://localhost/api/v1/leads?${search}`, { headers }));
  return (await answer.json()) as Answered; // A test of its own holds the shape.
}

/** A poll, a walk that goes on, or anything at all. */
function questionOf({ only, cursor, since }: Client, random: Random, nowMs: number): string {
  const asked = new URLSearchParams({ limit: String(1 + random.below(100)) });
  const how = random.below(4);
  if (how === 0 && since !== null) asked.set("since", since);
  else if (how < 3 && cursor !== null) asked.set("before", cursor);
  else if (random.below(2) === 0) asked.set("before", formatTime(nowMs - random.below(40 * dayMs)));
  if (only !== null) asked.set("state", only);
  if (random.below(4) > 0) return asked.toString();
  const filters = { pixel_id: random.pick(pixels), state: only ?? random.pick(states), city: random.pick(cities) };
  for (const [name, value] of Object.entries(filters)) if (value && random.below(2) === 0) asked.set(name, value);
  if (random.below(3) === 0) asked.set("has_email", "true");
  return asked.toString();
}

/** Mostly what has happened since, and sometimes what comes weeks late. */
function someLeads(random: Random, nowMs: number): Lead[] {
  const backMs = random.below(10) === 0 ? 30 * dayMs : dayMs / 2;
  return Array.from({ length: 1 + random.below(80) }, () =>
    aLead({
      identified_at: formatTime(nowMs - random.below(backMs)),
      pixel_id: random.pick(pixels),
      state: random.pick(states),
      city: random.pick(cities),
      email: random.below(3) === 0 ? null : "someone@example.com",
    }),
  );
}

/** Compares what is said of each lead that is still there with what keys received. */
function difference(model: Model, said: ReadonlyMap<string, Pick<PersonalData, "received" | "gaps">>) {
  const all = [...said.values()].flatMap(({ received }) => received);
  const byPair = new Map(all.map((one) => [`${one.id} ${one.key}`, one]));
  const isThere = (pair: string) => said.has(pair.split(" ")[0] ?? "");
  const received = [...model.received].filter(([pair]) => isThere(pair));
  const missed = received.filter(([pair, { first, last }]) => {
    const one = byPair.get(pair);
    return one === undefined || one.first > first || one.last < last;
  });
  const unrecorded = model.unrecorded.filter(({ pair }) => isThere(pair));
  const missedInGaps = unrecorded.filter(({ id, ms }) => {
    const gaps = said.get(id)?.gaps ?? [];
    return !gaps.some(({ from, to }) => Date.parse(from) <= ms && (to === null || ms <= Date.parse(to)));
  });
  const known = new Set([...received.map(([pair]) => pair), ...unrecorded.map(({ pair }) => pair)]);
  const tooMuch = [...byPair].filter(([pair]) => !known.has(pair));
  return {
    /** Leads that a key received, as the model knows. */
    received: known.size,
    /** Times that a key received a lead while the ledger was not kept. */
    unrecorded: unrecorded.length,
    /** Leads that the ledger does not name as received, and times that no gap of the lead covers. */
    missed: missed.length + missedInGaps.length,
    /** Leads that the ledger names and a key did not receive. */
    tooMuch: tooMuch.length,
  };
}
