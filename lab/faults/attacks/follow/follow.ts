/** kill -9 of follow, its receiver, or the server: no lead is lost, and each kill repeats at most one lead. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { aLead, newLead, someLeads } from "../../../../test/support/builders.ts";
import { aKey, anAccount, importLeads, openTestDatabase } from "../../../../test/support/database.ts";
import { aFreePort } from "../../../../test/support/free-port.ts";
import type { Random } from "../../../random.ts";
import { type Attack, broken, type Fault, type Figures } from "../../fault.ts";
import { documentsOf, look } from "../../product/contents.ts";
import { startFollow, startServer } from "../../product/program.ts";
import { createReceiver, ledgerIn, type Way, ways } from "./receiver.ts";

/** The number of kills in which each victim is killed once with each receiver. */
const round = 12;
const leadsPerKill = 24;
/** All leads of the builder have the same size. */
const leadBytes = Buffer.byteLength(JSON.stringify(aLead())) + 1;
/** The wait ends if nothing arrives for this long, because a defect may lose leads forever. */
const standstillMs = 20_000;

export const killFollow: Fault = {
  name: "kill -9 of follow",
  attack: "follow, what takes its leads (file, command, webhook) or the server is killed at a random moment; kills",
  promise: "every lead is taken, in order; a kill repeats at most the one in hand",
  small: round,
  full: 1000,
  breakages: [
    broken(
      "a checkpoint that moves before the lead is taken",
      "packages/client/src/follow.ts",
      "      yield lead;\n      progress.take(lead);\n      await keep(lead);\n",
      "      progress.take(lead);\n      await keep(lead);\n      yield lead;\n",
    ),
    broken(
      "a failure that counts as taken",
      "packages/client/program/receiver.ts",
      'if (typeof outcome === "boolean") return outcome;',
      "if (outcome !== null) return true;",
    ),
    broken("a checkpoint that never moves", "packages/client/src/follow.ts", "      await keep(lead);\n", ""),
  ],
  run,
};

async function run({ build, folder, times, random, goesOn, progress, expect }: Attack): Promise<Figures> {
  const scene = await startAll(build, folder);
  let kills = 0;
  for (const { way, victim } of killsInRounds(random)) {
    if (kills === times || !goesOn()) break;
    scene.follow(way);
    scene.addLeads(leadsPerKill);
    if (!(await grown(folder, 1 + random.below(leadsPerKill / 2)))) break;
    await scene.kill[victim]();
    progress(++kills);
  }
  scene.follow("file");
  // Once this lead is received, every earlier lead is either received or lost.
  scene.addLeads(1);
  const expected = scene.leads();
  await untilTaken(folder, () => linesIn(folder).at(-1) === expected.at(-1));
  await scene.end();
  const repeated = compare(expect, expected, linesIn(folder), kills);
  return { leads: expected.length, "repeated leads": repeated };
}

const receiverVictims = ["receiver before the lead", "receiver after it", "receiver, then follow"] as const;
type Victim = "follow" | "server" | (typeof receiverVictims)[number];

/** Yields each victim with each receiver, in random order. The kill of follow is the last one with a receiver. */
function* killsInRounds({ shuffle }: Random): Generator<{ readonly way: Way; readonly victim: Victim }> {
  for (;;) {
    for (const way of shuffle(ways)) {
      const others = way === "file" ? [] : receiverVictims;
      for (const victim of shuffle<Victim>(["server", ...others])) yield { way, victim };
      yield { way, victim: "follow" };
    }
  }
}

/** Starts a server, a follower, and its receiver. Leads are added before each kill, which interrupts a delivery. */
async function startAll(build: string, folder: string) {
  const file = join(folder, "leadfile.db");
  const database = openTestDatabase(file);
  const account = anAccount(database, { name: "acme" });
  function addLeads(count: number): void {
    const leads = someLeads(count).map(newLead);
    const add = () => void importLeads(database, account.number, leads);
    try {
      add();
    } catch {
      // A server that restarts after a kill locks the file while it recovers the log.
      Bun.sleepSync(1_000);
      add();
    }
  }
  const key = aKey(database, account).secret;
  // Below the range of ephemeral ports, so that no other program gets it while the server is down.
  const settings = { PORT: String(await aFreePort()) };
  let server = await startServer(build, file, settings);
  const receiver = createReceiver(folder);
  let follower: ReturnType<typeof startFollow> | null = null;
  async function endFollow(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    follower?.kill(signal);
    await follower?.exited;
    follower = null;
  }
  async function breakReceiver(when: "before" | "after"): Promise<void> {
    receiver.breakNext(when);
    addLeads(1);
    await receiver.broken(standstillMs);
  }
  const kill: Readonly<Record<Victim, () => Promise<void>>> = {
    follow: () => endFollow("SIGKILL"),
    async server() {
      await server.end("SIGKILL");
      server = await startServer(build, file, settings);
    },
    "receiver before the lead": () => breakReceiver("before"),
    "receiver after it": () => breakReceiver("after"),
    // It waits a moment before it offers the lead again.
    "receiver, then follow": () => breakReceiver("before").then(() => endFollow("SIGKILL")),
  };
  return {
    addLeads,
    kill,
    leads: () => look(file, documentsOf),
    /** Starts follow where it was killed. */
    follow(way: Way) {
      follower ??= startFollow(build, { url: server.url, key, folder, ...receiver.follow(way) });
    },
    async end() {
      await endFollow("SIGTERM");
      receiver.stop();
      await server.end();
      database.close();
    },
  };
}

/** Waits until a number of further leads have arrived. Returns false if nothing has arrived for a while. */
function grown(folder: string, leads: number): Promise<boolean> {
  const enough = sizeOf(folder) + leads * leadBytes;
  return untilTaken(folder, () => sizeOf(folder) >= enough);
}

/** Waits for a condition, which is checked whenever something has arrived. Returns false if nothing has for a while. */
async function untilTaken(folder: string, isThere: () => boolean): Promise<boolean> {
  for (let bytes = -1, atMs = performance.now(); performance.now() < atMs + standstillMs; await Bun.sleep(1)) {
    if (sizeOf(folder) === bytes) continue;
    if (isThere()) return true;
    bytes = sizeOf(folder);
    atMs = performance.now();
  }
  return false;
}

const sizeOf = (folder: string) => statSync(ledgerIn(folder)).size;
const linesIn = (folder: string) => readFileSync(ledgerIn(folder), "utf8").split("\n").slice(0, -1);

function compare(
  expect: Attack["expect"],
  expected: readonly string[],
  taken: readonly string[],
  kills: number,
): number {
  const once = taken.filter((line, place) => line !== taken[place - 1]);
  const lost = new Set(expected).difference(new Set(once)).size;
  const repeated = taken.length - once.length;
  expect(lost === 0, () => `${lost} leads are lost`);
  expect(once.join("\n") === expected.join("\n"), () => "leads came in another order, or again much later");
  expect(repeated <= kills, () => `${kills} kills repeated ${repeated} leads`);
  return repeated;
}
