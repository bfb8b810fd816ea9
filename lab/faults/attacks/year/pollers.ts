/** Twenty clients of a simulated year, each with a key and a habit, and what each of them has seen. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { dayMs, dayOf } from "../../../../src/contract/calendar.ts";
import type { Attack } from "../../fault.ts";
import { type Answered, ask, readPages } from "../../product/client.ts";
import { startFollow } from "../../product/program.ts";
import type { Clock } from "./clock.ts";
import { account, type Machine } from "./machine.ts";
import { type Matches, type Model, timesIn } from "./model.ts";

/** As `key create --json` prints it. */
type Key = { readonly id: string; readonly key: string };

interface Caller {
  readonly number: number;
  key: Key;
  /** Answers to the key by UTC day. */
  counts: Map<string, number>;
  /** The requests since usage was compared. */
  recent: Answered[];
  newestMs: number;
  /** The times of all leads that it has received. */
  readonly seen: Set<string>;
}

/** A query, the leads that match it, and every how many days it is sent. */
type Reading = readonly [search: string, matches: Matches, days: number];

const everything: Reading = ["", () => true, 4];
/** What each client reads; null for a client that polls with `since`. */
const habits: readonly (Reading | null)[] = [
  ...Array<null>(8).fill(null),
  ...Array<Reading>(4).fill(everything),
  ["state=CA", ({ state }) => state === "CA", 2],
  ["city=albany", ({ city }) => city === "Albany", 2],
  ["has_email=true", ({ email }) => email !== null, 2],
  ["pixel_id=px2", ({ pixel_id }) => pixel_id === "px2", 2],
  ["state=TX&pixel_id=px", ({ state, pixel_id }) => state === "TX" && pixel_id === "px", 2],
];
/** These run `follow`. */
const followers = 3;
const overlapDays = 3;
/** A kill may lose the counts of the last second, or of longer on a busy machine, which delays their write. */
const atRiskMs = 1_000;
const busyFactor = 4;

export interface Scene {
  readonly machine: Machine;
  readonly clock: Clock;
  readonly model: Model;
  readonly folder: string;
  readonly expect: Attack["expect"];
}

export class Pollers {
  requests = 0;
  lostCounts = 0;
  readonly #callers: Caller[] = [];
  readonly #followers: { readonly key: Key; readonly process: Bun.Subprocess }[] = [];

  constructor(readonly scene: Scene) {}

  async start(): Promise<void> {
    for (const number of habits.keys()) {
      const key = await this.#createKey();
      this.#callers.push({ number, key, counts: new Map(), recent: [], newestMs: 0, seen: new Set() });
    }
    for (let number = 0; number < followers; number++) await this.#follow(number);
  }

  aSecret(): string {
    return this.#callers[0]?.key.key ?? "";
  }

  async pollAll(day: number): Promise<void> {
    for (const caller of this.#callers) {
      const reading = habits[caller.number] ?? null;
      if (reading === null) await this.#pollSince(caller);
      else if ((day + caller.number) % reading[2] === 0) await this.#readAll(caller, reading);
    }
  }

  /** Polls from its newest lead on, with an overlap, and must have seen every lead then. */
  async #pollSince(caller: Caller): Promise<void> {
    const { model, clock, expect } = this.scene;
    const since = new Date(caller.newestMs - overlapDays * dayMs).toISOString();
    const query = `limit=${caller.number % 2 === 0 ? 25 : 100}&since=${since}`;
    for (const { identified_at } of await readPages(query, (target) => this.#ask(caller, target))) {
      caller.seen.add(identified_at);
      caller.newestMs = Math.max(caller.newestMs, Date.parse(identified_at));
    }
    const { lost } = model.compare(caller.seen, clock.now());
    expect(lost === 0, () => `client ${caller.number}, which polls with since, has missed ${lost} leads`);
  }

  /** Reads all leads that match a query, and must get exactly those. */
  async #readAll(caller: Caller, [search, matches]: Reading): Promise<void> {
    const { model, clock, expect } = this.scene;
    const found = await readPages(`limit=100&${search}`, (target) => this.#ask(caller, target));
    const there = new Set(found.map(({ identified_at }) => identified_at));
    const { lost, back } = model.compare(there, clock.now(), { matches });
    expect(lost + back === 0, () => `${lost} leads are lost, and ${back} deleted leads are served again (${search})`);
  }

  /** Asks until there is an answer: a server that was killed is started again. */
  async #ask(caller: Caller, target: string): Promise<Answered> {
    const asked = await ask(this.scene.machine.urlOf("server"), caller.key.key, target);
    caller.recent.push(asked);
    if (asked.status === 0) {
      await Bun.sleep(50);
      return this.#ask(caller, target);
    }
    const day = dayOf(this.scene.clock.now());
    caller.counts.set(day, (caller.counts.get(day) ?? 0) + 1);
    this.requests++;
    return asked;
  }

  /**
   * Compares the usage of all keys with what was counted. Since the last time, the server may have been killed and started:
   * then the last second before the kill may be missing, and no more.
   */
  async checkUsage([killedMs, startedMs]: readonly [number, number] = [0, 0]): Promise<void> {
    const answers = this.#callers.flatMap(({ recent }) => recent.filter(({ status }) => status !== 0));
    const slowestMs = Math.max(0, ...answers.map(({ tookMs }) => tookMs));
    const fromMs = killedMs - atRiskMs - busyFactor * slowestMs;
    const isAtRisk = (ms: number) => ms > fromMs && ms <= startedMs;
    for (const caller of this.#callers) {
      const unanswered = caller.recent.filter(({ status }) => status === 0).length;
      const atRisk = caller.recent.filter(({ status, atMs, tookMs }) => status !== 0 && isAtRisk(atMs + tookMs)).length;
      const usage = JSON.parse((await this.#ask(caller, "usage")).text);
      const day = dayOf(this.scene.clock.now());
      const today = caller.counts.get(day) ?? 0;
      const daysOfMonth = [...caller.counts].filter(([other]) => other.slice(0, 7) === day.slice(0, 7));
      const month = daysOfMonth.reduce((sum, [, count]) => sum + count, 0);
      const missing = today - usage.requests_today;
      const isRight = missing <= atRisk && missing >= -unanswered && missing === month - usage.requests_this_month;
      this.scene.expect(isRight, () => {
        const said = `${JSON.stringify(usage)}, not ${today} today and ${month} this month`;
        return `usage is ${said}; a kill put ${atRisk} at risk, and ${unanswered} were not answered`;
      });
      caller.counts.set(day, usage.requests_today);
      caller.recent = [];
      this.lostCounts += Math.max(0, missing);
    }
  }

  /** Takes the usage of all keys as it is: after a restore, the counts are those of the backup. */
  async takeUsage(): Promise<void> {
    for (const caller of this.#callers) {
      const usage = JSON.parse((await this.#ask(caller, "usage")).text);
      const day = dayOf(this.scene.clock.now());
      const before = [`${day.slice(0, 7)}-00`, usage.requests_this_month - usage.requests_today] as const;
      caller.counts.clear();
      for (const [one, count] of [before, [day, usage.requests_today] as const]) caller.counts.set(one, count);
      caller.recent = [];
    }
  }

  /** Each follower has written every lead, or does so soon. */
  async checkFollowers(): Promise<void> {
    const { clock, model, expect } = this.scene;
    for (const number of this.#followers.keys()) {
      const missed = () => model.compare(timesIn(readFileSync(this.#outputOf(number), "utf8")), clock.now()).lost;
      const hasAll = await clock.passUntil(() => missed() === 0, 30_000);
      expect(hasAll, () => `follower ${number} has missed ${missed()} leads`);
    }
  }

  /** Gives everybody another key, and revokes the old one. */
  async rotateKeys(): Promise<void> {
    for (const caller of this.#callers) {
      const old = caller.key;
      [caller.key, caller.counts] = [await this.#createKey(), new Map()];
      await this.#revoke(old);
    }
    for (const [number, { key }] of [...this.#followers].entries()) {
      await this.#follow(number);
      await this.#revoke(key);
    }
  }

  async stop(): Promise<void> {
    for (const { process } of this.#followers) process.kill("SIGKILL");
    await Promise.all(this.#followers.map(({ process }) => process.exited));
  }

  async #createKey(): Promise<Key> {
    return JSON.parse((await this.scene.machine.admin(["key", "create", account, "--json"])).stdout);
  }

  async #revoke({ id, key }: Key): Promise<void> {
    await this.scene.machine.admin(["key", "revoke", id, "--yes"]);
    const { status } = await ask(this.scene.machine.urlOf("server"), key, "usage");
    this.scene.expect(status === 401, () => `a revoked key got ${status}`);
  }

  /** Starts a follower with another key; one that runs is killed. */
  async #follow(number: number): Promise<void> {
    const { machine, folder } = this.scene;
    const running = this.#followers[number]?.process;
    running?.kill("SIGKILL");
    await running?.exited;
    const key = await this.#createKey();
    const args = ["--checkpoint", join(folder, `follow-${number}`), "--overlap", `${overlapDays}d`];
    const how = { url: machine.urlOf("server"), args, folder, output: this.#outputOf(number) };
    const process = startFollow(machine.build, { ...how, key: key.key, settings: machine.settings });
    this.#followers[number] = { key, process };
  }

  #outputOf(number: number): string {
    return join(this.scene.folder, `followed-${number}.ndjson`);
  }
}
