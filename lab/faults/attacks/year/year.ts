/** A year of a machine in an hour: deliveries, clients, backups, kills, full disks, restores, and an upgrade. */
import { missingHere } from "../../../../test/support/needing.ts";
import { quantile } from "../../../quantile.ts";
import { type Attack, broken, type Fault, type Figures } from "../../fault.ts";
import { ask } from "../../product/client.ts";
import { startServer } from "../../product/program.ts";
import { createClock } from "./clock.ts";
import { beginYear, copyOf, liveDay, ofWeek, ofYear, type Served, type Year } from "./days.ts";
import { openMachine } from "./machine.ts";
import { Model } from "./model.ts";
import { Pollers } from "./pollers.ts";

export const year: Fault = {
  name: "a year in an hour",
  attack:
    "a file, 50 webhooks, and 20 clients a day, nightly backups, kills of the server, the endpoint, the inbox, and imports, full disks, restores, and an upgrade, all by one simulated clock; days",
  promise:
    "each delivery that was answered and each row of a file is stored once, no lead is lost or back from the dead, usage is exact, and the backup of each night can be restored",
  small: 6,
  full: 365,
  breakages: [
    broken(
      "an answer before the delivery is written",
      "extensions/delivery/webhooks/endpoint.ts",
      "await store(spool, source, visits, arrivedMs);",
      "const delivered = source;\n      void Bun.sleep(5_000).then(() => store(spool, delivered, visits, arrivedMs));",
      { times: 2 },
    ),
    {
      name: "an import of persons who were erased",
      // The first persons are erased on the third day, and one of them is in the file of the fourth.
      times: 5,
      isSlow: true,
      patches: [
        {
          file: "src/import/write/lead-writer.ts",
          from: "if (isBlocked?.(",
          to: "if (nowMs === 0 && isBlocked?.(",
        },
      ],
    },
  ],
  missing: () => missingHere("versitygw", "mount"),
  run,
};

async function run({ build, folder, times, random, goesOn, progress, broken, expect: note }: Attack): Promise<Figures> {
  const plan = times > 2 * 7 ? ofYear : ofWeek;
  const clock = createClock(folder, plan.startMs);
  const expect: Attack["expect"] = (held, otherwise) =>
    note(held, () => `${new Date(clock.now()).toISOString()}: ${otherwise()}`);
  const machine = await openMachine(build, folder, clock);
  const scene = { machine, clock, model: new Model(random, plan.keepDays), folder, expect };
  const pollers = new Pollers(scene);
  try {
    const year = await beginYear(scene, pollers, random, plan);
    let done = 0;
    for (; done < times && goesOn() && broken.length === 0; progress(++done)) {
      await liveDay(year, done).catch((cause) => expect(false, () => String(cause)));
    }
    const figures = await finish(year);
    expect(broken.length === 0, () => `the log ends with: ${machine.logged()}`);
    return figures;
  } finally {
    await pollers.stop();
    await machine.close();
  }
}

/** Looks at the machine once more, and compares it with what it was when the first leads had become too old. */
async function finish(year: Year): Promise<Figures> {
  const { machine, pollers, counts, expect, sizes, plan } = year;
  // It warns of the rejected rows in the inbox.
  await machine.admin(["doctor"], machine.file, 1);
  const others = await machine.admin(["lead", "export", "other"]);
  expect(others.stdout.trim().split("\n").length === 4, () => "the leads of the other account are not there");
  const figures = {
    ...counts,
    requests: pollers.requests,
    "lost counts": pollers.lostCounts,
    "file kB": Math.round((sizes.at(-1) ?? 0) / 1000),
  };
  const { settled } = year;
  if (settled === null || plan !== ofYear) return figures;
  expect(machine.copies().length === 0, () => `copies of upgrades stay: ${machine.copies()}`);
  const growth = Math.max(...sizes.slice(plan.keepDays)) / (sizes[plan.keepDays] ?? 0) - 1;
  expect(growth <= 0.1, () => `the file grew by ${percent(growth)} % after day ${plan.keepDays}`);
  const end = await copyOf(year, "end");
  await machine.stop();
  const [beforeMs = 0, afterMs = 0] = await measureP99(machine.build, [settled, end]);
  const slowdown = afterMs / beforeMs - 1;
  expect(slowdown <= 0.1, () => `p99 grew from ${beforeMs} to ${afterMs} ms after day ${plan.keepDays}`);
  return {
    ...figures,
    "file growth %": percent(growth),
    "p99 ms": afterMs.toFixed(2),
    "p99 growth %": percent(slowdown),
  };
}

const percent = (part: number) => (100 * part).toFixed(1);

const targets = ["leads", "leads?limit=100", "leads?state=CA&limit=100", "leads?city=Reno", "leads?has_email=true"];
const rounds = 100;
const requestsPerRound = 100;

/**
 * Measures files in turns, so that other load affects all. Returns the p99 of each in milliseconds, of the quarter of the
 * rounds that other load affected least.
 */
async function measureP99(build: string, files: readonly Served[]): Promise<number[]> {
  const start = async ({ file, secret, environment }: Served) => ({
    server: await startServer(build, file, environment),
    secret,
  });
  const servers = await Promise.all(files.map(start));
  const p99s = servers.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [place, { server, secret }] of servers.entries()) {
      const times: number[] = [];
      for (let number = 0; number < requestsPerRound; number++) {
        const { status, tookMs } = await ask(server.url, secret, targets[number % targets.length]);
        if (status !== 200) throw new Error(`a request got ${status}`);
        times.push(tookMs);
      }
      p99s[place]?.push(quantile(times, 0.99));
    }
  }
  await Promise.all(servers.map(({ server }) => server.end()));
  return p99s.map((times) => quantile(times, 0.25));
}
