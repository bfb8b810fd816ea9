/** kill -9 of follow, of what takes its leads, or of the server: no lead is lost, and a kill repeats one at most. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Attack, createFindings, type Fault, type Findings, type Outcome } from "../../fault.ts";
import { documentsOf, look, prepareKey } from "../../product/contents.ts";
import { startServer } from "../../product/program.ts";
import { createReceiver, ledgerIn, startFollow } from "./receiver.ts";

const leadsPerKill = 24;
/** A build that loses leads never has them all. */
const standstillMs = 20_000;

export const killFollow: Fault = {
  name: "kill -9 of follow",
  attack: "follow, what takes its leads (file, command, webhook) or the server is killed at a random moment; kills",
  held: "every lead is taken, in order; a kill repeats at most the one in hand",
  small: 30,
  full: 1000,
  breakages: [
    {
      name: "a checkpoint that moves before the lead is taken",
      patches: [
        {
          file: "client/src/follow.ts",
          from: "      yield lead;\n      progress.take(lead);\n      await keep(lead);\n",
          to: "      progress.take(lead);\n      await keep(lead);\n      yield lead;\n",
        },
      ],
    },
    {
      name: "a failure that counts as taken",
      patches: [
        {
          file: "src/cli/follow/receiver.ts",
          from: 'if (outcome.kind !== "failed") return outcome.kind === "taken";',
          to: "if (outcome.kind !== null) return true;",
        },
      ],
    },
    {
      name: "a checkpoint that never moves",
      patches: [{ file: "client/src/follow.ts", from: "      await keep(lead);\n", to: "" }],
    },
  ],
  run,
};

/** What is to stand in the ledger in the end: its size tells swiftly that it does not. */
interface Wanted {
  readonly lastLine: string;
  readonly bytes: number;
  readonly lineBytes: number;
}

async function run({ build, folder, times, random, goesOn, progress }: Attack): Promise<Outcome> {
  const findings = createFindings();
  const file = join(folder, "leadfile.db");
  const key = prepareKey(file, times * leadsPerKill);
  const expected = look(file, documentsOf);
  const lastLine = expected.at(-1) ?? "";
  const bytes = Buffer.byteLength(expected.join("\n")) + 1;
  const wanted: Wanted = { lastLine, bytes, lineBytes: Buffer.byteLength(lastLine) + 1 };
  let server = await startServer(build, file);
  const { url } = server;
  const receiver = createReceiver(folder);
  const start = () => startFollow({ build, folder, key, url, way: random.pick(receiver.ways) });
  let follow = start();
  let kills = 0;
  while (kills < times && goesOn()) {
    if (!(await grown(folder, 1 + random.below(leadsPerKill / 2), wanted))) break;
    const victim = random.pick(["follow", "receiver", "server"]);
    if (victim === "receiver") receiver.breakNext(random.pick(["before", "after"]));
    if (victim === "server") {
      await server.end("SIGKILL");
      server = await startServer(build, file, { PORT: new URL(url).port });
    }
    if (victim === "follow") {
      follow.kill("SIGKILL");
      await follow.exited;
      follow = start();
    }
    progress(++kills);
  }
  await grown(folder, expected.length, wanted);
  follow.kill("SIGTERM");
  await follow.exited;
  receiver.stop();
  await server.end();
  const repeated = compare(findings, expected, linesIn(folder), kills);
  return { done: kills, broken: findings.broken, figures: { leads: expected.length, "repeated leads": repeated } };
}

/** Waits until so many more leads are taken, or the last of them all; false when for long nothing came any more. */
async function grown(folder: string, leads: number, { lastLine, bytes, lineBytes }: Wanted): Promise<boolean> {
  const size = () => statSync(ledgerIn(folder)).size;
  const enough = size() + leads * lineBytes;
  let last = { size: size(), atMs: performance.now() };
  while (size() < enough) {
    if (size() >= bytes && linesIn(folder).includes(lastLine)) return true;
    if (size() > last.size) last = { size: size(), atMs: performance.now() };
    if (performance.now() > last.atMs + standstillMs) return false;
    await Bun.sleep(1);
  }
  return true;
}

const linesIn = (folder: string) => readFileSync(ledgerIn(folder), "utf8").split("\n").slice(0, -1);

function compare({ expect }: Findings, expected: readonly string[], taken: readonly string[], kills: number): number {
  const once = taken.filter((line, place) => line !== taken[place - 1]);
  const lost = new Set(expected).difference(new Set(once)).size;
  const repeated = taken.length - once.length;
  expect(lost === 0, () => `${lost} leads are lost`);
  expect(once.join("\n") === expected.join("\n"), () => "leads came in another order, or again much later");
  expect(repeated <= kills, () => `${kills} kills repeated ${repeated} leads`);
  return repeated;
}
