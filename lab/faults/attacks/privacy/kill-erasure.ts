/** kill -9 of an erasure at random times: each lead that is gone has a receipt, which names its recipients afterwards. */
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CommandProcess, startCommands } from "../../../../test/support/command-process.ts";
import type { Random } from "../../../random.ts";
import { type Attack, broken, type Fault, type Figures } from "../../fault.ts";
import { countOf, isWhole, look } from "../../product/contents.ts";
import { readPages } from "../../product/pages.ts";
import { admin, startAdmin, startServer } from "../../product/program.ts";

export const killErasure: Fault = {
  name: "kill -9 of an erasure",
  attack: "persons whose leads a key has read are erased, by a list or a shared phone, until a random time; kills",
  promise:
    "each lead that is gone has a complete receipt, nothing else is gone, and the next run completes the erasure",
  small: 2,
  full: 100,
  breakages: [
    broken(
      "recipients that only the erasure itself adds to its receipts",
      "src/privacy/receipts.ts",
      "yield* withRecipients(database.read, rows)",
      "yield* rows",
      { isSlow: true, times: 8 },
    ),
  ],
  run,
};

const persons = 400;
const phone = "15550142000";
const emails = Array.from({ length: persons }, (_, n) => `person${n}@example.com`);

interface Scene {
  readonly build: string;
  readonly folder: string;
  readonly commands: CommandProcess;
  readonly list: string;
  readonly key: string;
  readonly random: Random;
  readonly expect: Attack["expect"];
}

async function run({ build, folder, turns, expect }: Attack): Promise<Figures> {
  const commands = startCommands(build);
  const base = join(folder, "base.db");
  const list = join(folder, "list.txt");
  writeFileSync(list, emails.join("\n"));
  const key = await prepareRead({ build, folder }, base);
  let partial = 0;
  try {
    for (const { number, place, random } of turns()) {
      const file = join(place, "killed.db");
      copyFileSync(base, file);
      const gone = await killOne({ build, folder, commands, list, key, random, expect }, file, number);
      if (gone > 0 && gone < persons) partial++;
    }
  } finally {
    await commands.end();
  }
  return { "leads of each erasure": persons, "kills that left a part": partial };
}

/** Makes a file with the leads of all persons and of one other, all of which a key has read. Returns the ID of the key. */
async function prepareRead({ build, folder }: Pick<Attack, "build" | "folder">, file: string): Promise<string> {
  const rows = emails.map((email) => `px,${email},${phone}\n`).join("");
  const path = join(folder, "leads.csv");
  writeFileSync(path, `pixel_id,email,phone\n${rows}px,other@example.com,\n`);
  await admin(build, file, ["account", "create", "acme"]);
  await admin(build, file, ["lead", "import", "acme", path, "--create-pixels"]);
  const { key, id } = JSON.parse((await admin(build, file, ["key", "create", "acme", "--json"])).stdout);
  const server = await startServer(build, file);
  await readPages(server.url, key);
  await server.end();
  // It is copied without its log.
  look(file, (database) => database.run("PRAGMA wal_checkpoint(TRUNCATE)"));
  return id;
}

/** Kills one erasure, compares the receipts with what is gone, and completes it. Returns how many leads the kill left out. */
async function killOne(scene: Scene, file: string, round: number): Promise<number> {
  const { build, list, random, expect } = scene;
  const by = random.pick([
    ["--list", list],
    ["--list", list],
    ["--phone", phone],
  ]);
  const args = ["lead", "erase", "acme", ...by];
  const child = startAdmin(build, file, args);
  // Most of the time passes before anything is written, so most kills wait for that.
  const untilGone = random.below(4) === 0 ? 0 : random.below(persons);
  while (child.exitCode === null && look(file, countOf) > persons - untilGone) await Bun.sleep(1);
  await Bun.sleep(random.next() * (untilGone === 0 ? 600 : 100));
  child.kill("SIGKILL");
  await child.exited;
  const gone = persons + 1 - look(file, countOf);
  const said = (what: string) => () => `kill ${round} of erase ${by[0]} with ${gone} leads gone: ${what}`;
  expect(look(file, isWhole), said("the file is damaged"));
  await compareReceipts(scene, file, gone, said);

  const again = await startAdmin(build, file, args);
  expect((await again.exited) === 0, said("the next run failed"));
  const left = look(file, countOf);
  expect(left === 1, said(`the next run left ${left} leads`));
  await compareReceipts(scene, file, persons, said);
  return gone;
}

async function compareReceipts(
  { commands, folder, key, expect }: Scene,
  file: string,
  gone: number,
  said: (what: string) => () => string,
): Promise<void> {
  const environment = { DATABASE_PATH: file, HOME: folder, PATH: process.env["PATH"] ?? "" };
  const order = { args: ["receipt", "list", "acme"], folder, environment, input: "", nowMs: null };
  const { stdout, status, stderr } = await commands.run(order);
  expect(status === 0, said(`receipt list ended with ${status}: ${stderr}`));
  const receipts: { removed: string[]; received: { key: string; possibly: boolean }[] }[] = stdout
    .split("\n")
    .flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
  const removed = receipts.flatMap((receipt) => receipt.removed);
  expect(removed.length === gone && new Set(removed).size === gone, said(`receipts name ${removed.length} leads`));
  const incomplete = receipts.filter(({ removed, received }) => {
    const [one, another] = received;
    return removed.length > 0 && (one?.key !== key || one.possibly || another !== undefined);
  });
  expect(incomplete.length === 0, said(`${incomplete.length} receipts do not name the recipient`));
}
