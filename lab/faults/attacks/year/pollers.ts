/** Twenty clients of a simulated year, each with a key and a habit, and what each of them has seen. */
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { dayMs, dayOf } from "../../../../src/contract/calendar.ts";
import type { Attack } from "../../fault.ts";
import { surroundings } from "../../product/program.ts";
import type { Clock } from "./clock.ts";
import { account, type Machine } from "./machine.ts";
import { idsIn, type Matches, type Model } from "./model.ts";

/** As `key create --json` prints it. */
type Key = { readonly id: string; readonly key: string };

interface Caller {
  readonly number: number;
  key: Key;
  /** Requests of the key by UTC day. */
  counts: Map<string, number>;
  /** The recent response times on the real clock, and the number of failed requests since the last kill. */
  answeredMs: number[];
  unanswered: number;
  newestMs: number;
  readonly seen: Set<string>;
}

interface Page {
  readonly data: readonly { readonly id: string; readonly identified_at: string }[];
  readonly next_cursor: string | null;
}

/** Reads all that a filter lets through, on one day of so many. */
type Reading = readonly [search: string, matches: Matches, days: number];

const everything: Reading = ["", () => true, 4];
/** Null polls with `since`. */
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
/** A kill may cost what was counted in the last second, and while a busy machine keeps the server from writing it. */
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
  /** The duration of the slowest response since usage was compared. */
  #slowestMs = 0;
  readonly #callers: Caller[] = [];
  readonly #followers: { readonly key: Key; readonly process: Bun.Subprocess }[] = [];

  constructor(readonly scene: Scene) {}

  async start(): Promise<void> {
    for (const number of habits.keys()) {
      const key = await this.#createKey();
      const nothing = { counts: new Map(), answeredMs: [], unanswered: 0, newestMs: 0, seen: new Set<string>() };
      this.#callers.push({ number, key, ...nothing });
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
    const limit = caller.number % 2 === 0 ? 25 : 100;
    for (const { id, identified_at } of await this.#pages(caller, `limit=${limit}&since=${since}`)) {
      caller.seen.add(id);
      caller.newestMs = Math.max(caller.newestMs, Date.parse(identified_at));
    }
    const { lost } = model.compare(caller.seen, clock.now());
    expect(lost === 0, () => `client ${caller.number}, which polls with since, has missed ${lost} leads`);
  }

  /** Reads all that a filter lets through, and must get exactly that. */
  async #readAll(caller: Caller, [search, matches]: Reading): Promise<void> {
    const { model, clock, expect } = this.scene;
    const found = await this.#pages(caller, `limit=100&${search}`);
    const there = new Set(found.map(({ id }) => id));
    expect(there.size === found.length, () => `${search}: a lead was there twice`);
    const { lost, back } = model.compare(there, clock.now(), { matches });
    expect(lost + back === 0, () => `${lost} leads are lost, and ${back} are back from the dead (${search})`);
  }

  async #pages(caller: Caller, search: string): Promise<Page["data"]> {
    const found: Page["data"][number][] = [];
    for (let before = ""; ; ) {
      const { status, body } = await this.#ask(caller, `leads?${search}${before}`);
      this.scene.expect(status === 200, () => `leads?${search} got ${status}: ${JSON.stringify(body)}`);
      if (status !== 200) return found;
      const { data, next_cursor } = body as Page; // As §4.1 has it; what differs is found by the comparison.
      found.push(...data);
      if (next_cursor === null) return found;
      before = `&before=${next_cursor}`;
    }
  }

  /** Asks until there is an answer: a server that was killed is started again. */
  async #ask(caller: Caller, target: string): Promise<{ status: number; body: unknown }> {
    for (;;) {
      const startedMs = performance.now();
      try {
        const answer = await this.#fetch(target, caller.key);
        const body: unknown = await answer.json();
        const nowMs = performance.now();
        caller.answeredMs.push(nowMs);
        this.#slowestMs = Math.max(this.#slowestMs, nowMs - startedMs);
        const day = dayOf(this.scene.clock.now());
        caller.counts.set(day, (caller.counts.get(day) ?? 0) + 1);
        this.requests++;
        return { status: answer.status, body };
      } catch {
        caller.unanswered++;
        await Bun.sleep(50);
      }
    }
  }

  #fetch(target: string, { key }: Key): Promise<Response> {
    const headers = { Authorization: `Bearer ${key}` };
    return fetch(`${this.scene.machine.urlOf("server")}/api/v1/${target}`, { headers });
  }

  /**
   * Compares the usage of all keys with what was counted. Since the last time, the server may have been killed and started:
   * then the last second before the kill may be missing, and no more.
   */
  async checkUsage([killedMs, startedMs]: readonly [number, number] = [0, 0]): Promise<void> {
    const fromMs = killedMs - atRiskMs - busyFactor * this.#slowestMs;
    for (const caller of this.#callers) {
      const atRisk = caller.answeredMs.filter((ms) => ms > fromMs && ms <= startedMs);
      const { body } = await this.#ask(caller, "usage");
      const { requests_today: actual, requests_this_month: actualOfMonth } = Object(body);
      const day = dayOf(this.scene.clock.now());
      const today = caller.counts.get(day) ?? 0;
      const daysOfMonth = [...caller.counts].filter(([other]) => other.slice(0, 7) === day.slice(0, 7));
      const month = daysOfMonth.reduce((sum, [, count]) => sum + count, 0);
      const missing = today - actual;
      const isRight = missing <= atRisk.length && missing >= -caller.unanswered && missing === month - actualOfMonth;
      this.scene.expect(isRight, () => {
        const said = `${actual} today and ${actualOfMonth} this month, not ${today} and ${month}`;
        return `usage is ${said}; a kill put ${atRisk.length} at risk, and ${caller.unanswered} were not answered`;
      });
      caller.counts.set(day, actual);
      [caller.answeredMs, caller.unanswered] = [[], 0];
      this.lostCounts += Math.max(0, missing);
    }
    this.#slowestMs = 0;
  }

  /** Each follower has written every lead, or does so soon. */
  async checkFollowers(): Promise<void> {
    const { clock, model, expect } = this.scene;
    for (let number = 0; number < followers; number++) {
      const missed = () => model.compare(idsIn(readFileSync(this.#outputOf(number), "utf8")), clock.now()).lost;
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

  async #revoke(key: Key): Promise<void> {
    await this.scene.machine.admin(["key", "revoke", key.id, "--yes"]);
    const { status } = await this.#fetch("usage", key);
    this.scene.expect(status === 401, () => `a revoked key got ${status}`);
  }

  /** Starts a follower with another key; one that runs is killed. */
  async #follow(number: number): Promise<void> {
    const { machine, folder } = this.scene;
    const running = this.#followers[number]?.process;
    running?.kill("SIGKILL");
    await running?.exited;
    const key = await this.#createKey();
    const output = openSync(this.#outputOf(number), "a");
    const checkpoint = ["--checkpoint", join(folder, `follow-${number}`), "--overlap", `${overlapDays}d`];
    const command = [process.execPath, join(machine.build, "src/admin.ts"), "follow", machine.urlOf("server")];
    const env = { ...surroundings(machine.file, machine.settings), LEADFILE_KEY: key.key };
    const follower = Bun.spawn([...command, ...checkpoint], { env, stdio: ["ignore", output, "ignore"] });
    this.#followers[number] = { key, process: follower };
    closeSync(output);
  }

  #outputOf(number: number): string {
    return join(this.scene.folder, `followed-${number}.ndjson`);
  }
}
