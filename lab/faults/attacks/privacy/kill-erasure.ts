/** kill -9 of an erasure at random times: each lead that is gone has a receipt, which names its recipients afterwards. */
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { aLead, linesOf } from "../../../../test/support/builders.ts";
import { until } from "../../../../test/support/eventually.ts";
import { type Attack, broken, type Fault, type Figures } from "../../fault.ts";
import { ask, readPages } from "../../product/client.ts";
import { countOf, isWhole, look, prepareKeys } from "../../product/contents.ts";
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

type Scene = Pick<Attack, "build" | "random" | "expect"> & { readonly list: string; readonly keyId: string };

async function run({ build, folder, turns, expect }: Attack): Promise<Figures> {
  const base = join(folder, "base.db");
  const list = join(folder, "list.txt");
  writeFileSync(list, emails.join("\n"));
  const keyId = await prepareRead(build, base);
  let partial = 0;
  for (const { number, place, random } of turns()) {
    const file = join(place, "killed.db");
    copyFileSync(base, file);
    const gone = await killOne({ build, list, keyId, random, expect }, file, number);
    if (gone > 0 && gone < persons) partial++;
  }
  return { "leads of each erasure": persons, "kills that left a part": partial };
}

/** Makes a file with the leads of all persons and of one other, all of which a key has read. Returns the ID of the key. */
async function prepareRead(build: string, file: string): Promise<string> {
  const leads = [...emails.map((email) => aLead({ email, phone })), aLead({ email: "other@example.com", phone: null })];
  const [{ id, secret }] = prepareKeys(file, 0);
  await admin(build, file, ["lead", "import", "acme", "-", "--create-pixels"], { input: linesOf(leads) });
  const server = await startServer(build, file);
  await readPages("limit=100", (target) => ask(server.url, secret, target));
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
  await until(() => child.exitCode !== null || look(file, countOf) <= persons - untilGone, 1);
  await Bun.sleep(random.next() * (untilGone === 0 ? 600 : 100));
  child.kill("SIGKILL");
  await child.exited;
  const gone = persons + 1 - look(file, countOf);
  const said = (what: string) => () => `kill ${round} of erase ${by[0]} with ${gone} leads gone: ${what}`;
  expect(look(file, isWhole), said("the file is damaged"));
  await compareReceipts(scene, file, gone, said);

  const again = await admin(build, file, args);
  expect(again.status === 0, said(`the next run failed: ${again.stderr}`));
  const left = look(file, countOf);
  expect(left === 1, said(`the next run left ${left} leads`));
  await compareReceipts(scene, file, persons, said);
  return gone;
}

interface Receipt {
  readonly removed: readonly string[];
  readonly received: readonly { readonly key: string; readonly possibly: boolean }[];
}

async function compareReceipts(
  { build, keyId, expect }: Scene,
  file: string,
  gone: number,
  said: (what: string) => () => string,
): Promise<void> {
  const { stdout, status, stderr } = await admin(build, file, ["receipt", "list", "acme"]);
  expect(status === 0, said(`receipt list ended with ${status}: ${stderr}`));
  const lines = stdout.split("\n").filter(Boolean);
  const receipts = lines.map((line) => JSON.parse(line) as Receipt); // As the command promises.
  const removed = receipts.flatMap((receipt) => receipt.removed);
  expect(removed.length === gone && new Set(removed).size === gone, said(`receipts name ${removed.length} leads`));
  const incomplete = receipts.filter(({ removed, received }) => {
    const [one, another] = received;
    return removed.length > 0 && (one?.key !== keyId || one.possibly || another !== undefined);
  });
  expect(incomplete.length === 0, said(`${incomplete.length} receipts do not name the recipient`));
}
