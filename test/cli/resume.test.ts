/** An import that is killed leaves the oldest leads of its file, and completes when it is run again. */
import { expect, test } from "bun:test";
import { copyFileSync, existsSync } from "node:fs";
import { type Admin, anAdmin } from "../support/admin.ts";
import { betweenTransactions } from "../support/between-transactions.ts";

const total = 5_000;
/** Thousands of leads on the same days, and times to which others are moved. */
const times = ["2026-01-31", "2026-01-30", "2026-01-31 00:00:00.500", "2026-01-31T00:00:02Z", "01/30/2026 12:00 AM"];
const rows = Array.from({ length: total }, (_, n) => `${times[(n * 7) % times.length]},${n},d${n % 997}@example.com\n`);
const file = `date,source,email\n${rows.join("")}`;

const importing = (admin: Admin) =>
  ["lead", "import", "acme", admin.put("export.csv", file)].concat("--pixel", "px", "--create-pixels");

/** Copies the file with its account, so that the IDs that are derived from it are the same. */
function twin(admin: Admin): Admin {
  const other = anAdmin([]);
  for (const suffix of ["", "-wal"])
    if (existsSync(admin.file + suffix)) copyFileSync(admin.file + suffix, other.file + suffix);
  return other;
}

/** Starts the import, kills it at a number of leads, and returns how many are stored then. */
async function importUntil(admin: Admin, enough: number): Promise<number> {
  const child = admin.start(...importing(admin));
  let last = 0;
  await betweenTransactions(admin.file, child.exited, (leads) => {
    last = leads;
    if (leads >= enough) child.kill("SIGKILL");
  });
  return last;
}

test("an import that is killed at any times and run again gives byte for byte the result of one without a break", async () => {
  const broken = anAdmin();
  const unbroken = twin(broken);
  const whole = await unbroken.run(...importing(unbroken), "--json");
  expect(whole.json).toMatchObject({ read: total, imported: total, rejected: 0 });

  const exported = await unbroken.exported();
  const kills = Array.from({ length: 3 }, () => Math.ceil(Math.random() * total * 0.8)).toSorted((a, b) => a - b);
  let cutShort = 0;
  for (const atLeads of kills) {
    const left = await importUntil(broken, atLeads);
    if (left < total) cutShort++;
    // No lead is missing before the newest stored one.
    const same = exported.startsWith(await broken.exported());
    expect({ kills, same }).toEqual({ kills, same: true });
  }
  expect({ kills, cutShort: cutShort > 0 }).toEqual({ kills, cutShort: true });
  const { json } = await broken.run(...importing(broken), "--json");
  expect(Number(json["imported"]) + Number(json["duplicates"])).toBe(total);
  const same = (await broken.exported()) === exported;
  expect({ kills, same }).toEqual({ kills, same: true });
});

test("two files of one date without a time come in about as fast as those with times of their own", async () => {
  const many = 6_000;
  const importTwo = async (timeOf: (n: number) => string) => {
    const admin = anAdmin();
    let cpuMs = 0;
    for (const name of ["a", "b"]) {
      const lines = Array.from({ length: many }, (_, n) => `${timeOf(n)},${name}${n}@example.com\n`).join("");
      const path = admin.put(`${name}.csv`, `date,email\n${lines}`);
      const child = admin.start("lead", "import", "acme", path, "--pixel", "px", "--create-pixels", "--json");
      expect(await new Response(child.stdout).json()).toMatchObject({ imported: many });
      await child.exited;
      cpuMs += Number(child.resourceUsage()?.cpuTime.total) / 1000;
    }
    return cpuMs;
  };
  const spreadMs = await importTwo((n) => new Date(1_769_850_900_000 + n * 1000).toISOString());
  const tiedMs = await importTwo(() => "2026-01-31");
  // To compare each lead with all others of the date would take tens of times as long.
  expect(tiedMs).toBeLessThan(spreadMs * 4 + 1000);
});
