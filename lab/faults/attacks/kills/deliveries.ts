/** kill -9 of the webhook endpoint, of its imports, or of the inbox: what was answered 200 or dropped is a lead, once. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createKey, digestOf, prefixOf } from "../../../../src/contract/key.ts";
import { createSource } from "../../../../src/db/sources.ts";
import { anAccount, written } from "../../../../test/support/database.ts";
import { until } from "../../../../test/support/eventually.ts";
import { missingHere } from "../../../../test/support/needing.ts";
import { type Attack, broken, type Fault, type Figures } from "../../fault.ts";
import { startClients } from "../../product/client.ts";
import { documentsOf, look, prepare } from "../../product/contents.ts";
import { startAdmin, startServer } from "../../product/program.ts";

const vendors = 8;
const maxPauseMs = 400;
const postsPerFile = 10;
const rowsPerFile = 1_000;
const maxLifeMs = 2_000;

export const killDeliveries: Fault = {
  name: "kill -9 of deliveries",
  attack: `${vendors} vendors post until they get 200, and drop files into the inbox, while the endpoint, its imports, or the inbox is killed; posts`,
  promise: "every visit that was answered with 200 and every row of a file is a lead, each once",
  small: 120,
  full: 10_000,
  breakages: [
    broken(
      "an answer before the delivery is written",
      "extensions/delivery/webhooks/endpoint.ts",
      "await store(spool, source, visits);",
      "const delivered = source;\n      void Bun.sleep(5_000).then(() => store(spool, delivered, visits));",
      { times: 1 },
    ),
  ],
  missing: () => missingHere("/proc"),
  run,
};

async function run({ build, folder, times, random, goesOn, progress, expect, file }: Attack): Promise<Figures> {
  const inbox = join(folder, "inbox");
  const dropped = join(inbox, "acme");
  mkdirSync(dropped, { recursive: true });
  const token = prepareSource(file);
  const processes = await startProcesses(build, file, inbox);
  let [posts, files] = [0, 0];
  const delivered: string[] = [];
  async function post(): Promise<void> {
    const email = `v${posts++}@example.com`;
    await postUntilTaken(processes.url, token, email);
    delivered.push(email);
    progress(posts);
  }
  async function deliver(): Promise<void> {
    await post();
    if (posts % postsPerFile === 0) delivered.push(...drop(dropped, files++));
    await Bun.sleep(random.below(maxPauseMs));
  }
  async function kill(): Promise<void> {
    await Bun.sleep(random.below(maxLifeMs));
    await random.pick([processes.killEndpoint, processes.killImports, processes.killInbox])();
  }
  const working = startClients(Array.from({ length: vendors }, () => deliver));
  const killing = startClients([kill]);
  await until(() => posts >= times || !goesOn() || working.isOver());
  await working.end();
  const kills = (await killing.end()).length;
  // The last one is killed as soon as it has answered.
  await post();
  await processes.killEndpoint();
  await until(() => !isWaiting(`${file}.spool`, dropped), 100);
  await processes.end();
  compare(expect, delivered, look(file, documentsOf));
  return { files, kills, leads: delivered.length };
}

async function startProcesses(build: string, file: string, inbox: string) {
  const openEndpoint = () =>
    startServer(build, file, { RECEIVE_PORT: "0" }, ["src/admin.ts", "receive", "--every", "0.2"]);
  const openInbox = () => startAdmin(build, file, ["inbox", inbox]);
  let endpoint = await openEndpoint();
  let watching = openInbox();
  async function endInbox(): Promise<void> {
    watching.kill("SIGKILL");
    await watching.exited;
  }
  return {
    url: () => endpoint.url,
    async killEndpoint() {
      await endpoint.end("SIGKILL");
      endpoint = await openEndpoint();
    },
    async killImports() {
      for (const child of childrenOf(endpoint.pid)) killIfAlive(child);
    },
    async killInbox() {
      await endInbox();
      watching = openInbox();
    },
    end: () => Promise.all([endInbox(), endpoint.end()]),
  };
}

function compare(expect: Attack["expect"], delivered: readonly string[], documents: readonly string[]): void {
  const stored = documents.map((document) => String(JSON.parse(document).email));
  const lost = new Set(delivered).difference(new Set(stored)).size;
  expect(lost === 0, () => `${lost} of ${delivered.length} leads are lost`);
  expect(new Set(stored).size === stored.length, () => "a lead is there twice");
  expect(stored.length <= delivered.length, () => `${stored.length - delivered.length} leads were never delivered`);
}

/** A file with an account and an address for deliveries, whose token is given. */
function prepareSource(file: string): string {
  const token = createKey("lfin_");
  const source = { digest: digestOf(token), prefix: prefixOf(token), label: null };
  prepare(file, (database) => {
    const account = anAccount(database, { name: "acme", pixels: [{ id: "px", status: "active" }] });
    written(createSource(database, account, { ...source, options: { pixel: "px", stamp: "arrival" } }, 0));
  });
  return token;
}

/** Posts as vendors do: what is not answered with 200 is sent again. */
function postUntilTaken(urlNow: () => string, token: string, email: string): Promise<void> {
  const body = JSON.stringify({ email, page_url: "https://www.example.com/pricing" });
  return until(async () => {
    const answer = await fetch(`${urlNow()}/in/${token}`, { method: "POST", body }).catch(() => null);
    return answer?.status === 200;
  });
}

/** Drops a file as the documentation says. Returns the email addresses of its rows. */
function drop(folder: string, number: number): string[] {
  const emails = Array.from({ length: rowsPerFile }, (_, row) => `f${number}-${row}@example.com`);
  const rows = emails.map((email, row) => `${email},${new Date(1_760_000_000_000 + row * 1000).toISOString()},px\n`);
  const path = join(folder, `${number}.csv`);
  writeFileSync(`${path}.part`, `email,identified_at,pixel_id\n${rows.join("")}`);
  renameSync(`${path}.part`, path);
  return emails;
}

/** Returns true if deliveries in a spool, or files in the folder of an account, wait for their import. */
export function isWaiting(spool: string, dropped: string): boolean {
  const folders = [spool, dropped].filter((folder) => existsSync(folder));
  const pending = folders.flatMap((folder) => readdirSync(folder, { recursive: true }).map(String));
  return pending.some((name) => /^(?:src_\w+\/)?[^/]+\.(?:part|ndjson|csv)$/.test(name));
}

function childrenOf(pid: number): number[] {
  const threads = readdirSync(`/proc/${pid}/task`);
  const lists = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8"));
  return lists.flatMap((list) => list.split(" ").filter(Boolean).map(Number));
}

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended in the meantime.
  }
}
