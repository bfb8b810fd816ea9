/** Random histories of a server whose clock jumps ahead: retention erases no lead before its time. */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Attack, broken, type Fault, type Figures } from "../../fault.ts";

export const clocks: Fault = {
  name: "wrong clocks",
  attack:
    "a server with a retention whose clock jumps ahead by 60 to 560 days and back, between imports and acts; histories",
  promise: "no lead erased before its time",
  small: 30,
  full: 3_000,
  breakages: [
    broken("retention trusts every clock", "src/db/due-leads.ts", "<= maxSilenceDays * dayMs;", "<= Infinity;"),
  ],
  run,
};

const actsEach = 60;

async function run({ build, folder, turns, expect }: Attack): Promise<Figures> {
  const { clockActs, startClockHistory }: typeof import("../../../../test/privacy/clock-history.ts") = await import(
    join(build, "test/privacy/clock-history.ts")
  );
  const total = { erased: 0, waits: 0 };
  for (const { number, random } of turns()) {
    const place = join(folder, `history-${number}`);
    mkdirSync(place);
    const history = await startClockHistory(place);
    for (let act = 0; act < actsEach; act++) await history.act(random.pick(clockActs), random.below(10_000));
    history.close();
    rmSync(place, { recursive: true });
    const { lost, erased, waits } = history.counts;
    expect(lost === 0, () => `${lost} leads were erased before their time in history ${number}`);
    total.erased += erased;
    total.waits += waits;
  }
  return total;
}
