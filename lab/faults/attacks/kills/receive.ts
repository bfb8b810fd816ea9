/** kill -9 of the webhook endpoint, or of the import behind it: what was answered 200 is served, and nothing twice. */
import { readdirSync, readFileSync } from "node:fs";
import { createKey, digestOf, prefixOf } from "../../../../src/contract/key.ts";
import type { Random } from "../../../random.ts";
import type { Attack, Fault, Figures } from "../../fault.ts";
import { countOf, documentsOf, look, makeAccount, prepare } from "../../product/contents.ts";
import { missingProc } from "../../product/process-state.ts";
import { type Server, startServer } from "../../product/program.ts";

const vendors = 8;
const postsPerKill = 40;
/** At the end, kills that come when leads are in that their file still holds: it is imported again. */
const killsAfterImport = 2;
/** Nothing comes in any more, though something was answered: it is lost. */
const standstillMs = 15_000;

export const killReceive: Fault = {
  name: "kill -9 of receive",
  attack: "8 vendors post, and post again what was not answered, while the endpoint or its import is killed; posts",
  promise: "the export is what was answered with 200, each visit once",
  small: 160,
  full: 10_000,
  breakages: [
    {
      name: "an answer before the delivery is written",
      isSlow: true,
      patches: [
        {
          file: "extensions/delivery/webhooks/endpoint.ts",
          from: "await store(spool, source, visits);",
          to: "const delivered = source;\n      void Bun.sleep(200).then(() => store(spool, delivered, visits));",
        },
      ],
    },
    {
      name: "ids that are new at every import",
      patches: [
        {
          file: "src/import/map/identity.ts",
          from: "const hash = sha256(JSON.stringify([account,",
          to: "const hash = sha256(JSON.stringify([Math.random(), account,",
        },
      ],
    },
  ],
  missing: missingProc,
  run,
};

async function run({ build, times, random, goesOn, progress, expect, file }: Attack): Promise<Figures> {
  const token = prepareSource(file);
  const open = () => startServer(build, file, { RECEIVE_PORT: "0" }, ["src/admin.ts", "receive", "--every", "0.2"]);
  let endpoint = await open();
  const answered: string[] = [];
  const timesMs: number[] = [];
  let sent = 0;
  async function post(): Promise<void> {
    const email = `v${sent++}@example.com`;
    timesMs.push(await postUntilTaken(() => endpoint.url, token, email));
    progress(answered.push(email));
  }
  const posting = Array.from({ length: vendors }, async () => {
    while (sent < times && goesOn()) await post();
  });
  let isOver = false;
  const killing = (async () => {
    let kills = 0;
    for (let killAt = random.below(postsPerKill); !isOver; await Bun.sleep(1)) {
      if (answered.length < killAt) continue;
      kills++;
      killAt = answered.length + 1 + random.below(2 * postsPerKill);
      if (await killOne(endpoint, random)) endpoint = await open();
    }
    return kills;
  })();
  await Promise.all(posting);
  isOver = true;
  let kills = await killing;
  for (const until = kills + killsAfterImport; kills < until; kills++) {
    const before = look(file, countOf);
    await post();
    await untilMore(file, before);
    killImports(endpoint);
    await endpoint.end("SIGKILL");
    // A new one imports at once, where one whose import was killed often waits.
    endpoint = await open();
  }
  const exported = await importedOf(file, new Set(answered));
  await endpoint.end();
  const lost = new Set(answered).difference(new Set(exported)).size;
  expect(lost === 0, () => `${lost} of ${answered.length} visits that were answered are lost`);
  expect(new Set(exported).size === exported.length, () => "a visit is there twice");
  expect(exported.length <= answered.length, () => `${exported.length - answered.length} visits were never answered`);
  return { kills, "p50 of a post ms": median(timesMs) };
}

/** A file with an account and an address for deliveries, whose token is given. */
function prepareSource(file: string): string {
  const token = createKey("lfin_");
  prepare(file, (store) => {
    const { number } = makeAccount(store, "acme");
    store.pixels.create(number, { id: "px", status: "active" }, 0);
    const options = { pixel: "px", stamp: "arrival" };
    store.sources.create(number, { digest: digestOf(token), prefix: prefixOf(token), label: null, options }, 0);
  });
  return token;
}

/** Posts as vendors do: what is not answered with 200 comes again. How long the last try took, in milliseconds. */
async function postUntilTaken(urlNow: () => string, token: string, email: string): Promise<number> {
  const body = JSON.stringify({ email, page_url: "https://www.example.com/pricing" });
  for (;;) {
    const begunMs = performance.now();
    const answer = await fetch(`${urlNow()}/in/${token}`, { method: "POST", body }).catch(() => null);
    if (answer?.status === 200) return performance.now() - begunMs;
    await Bun.sleep(20);
  }
}

/** Kills the endpoint, or the import that it has started; whether it was the endpoint. */
async function killOne(endpoint: Server, random: Random): Promise<boolean> {
  if (random.below(2) === 0 && killImports(endpoint)) return false;
  await endpoint.end("SIGKILL");
  return true;
}

/** Returns true if there was one. */
function killImports({ pid }: Server): boolean {
  const imports = childrenOf(pid);
  for (const child of imports) process.kill(child, "SIGKILL");
  return imports.length > 0;
}

/** Waits until an import has written leads, or for long none did. */
async function untilMore(file: string, leads: number): Promise<void> {
  for (const endMs = performance.now() + standstillMs; performance.now() < endMs; await Bun.sleep(1)) {
    if (look(file, countOf) > leads) return;
  }
}

function childrenOf(pid: number): number[] {
  const threads = readdirSync(`/proc/${pid}/task`);
  const lists = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8"));
  return lists.flatMap((list) => list.split(" ").filter(Boolean).map(Number));
}

/** The e-mail addresses that are served, once all that are wanted are among them, or for long none came any more. */
async function importedOf(file: string, wanted: ReadonlySet<string>): Promise<string[]> {
  let emails: string[] = [];
  for (let grewMs = performance.now(); performance.now() < grewMs + standstillMs; await Bun.sleep(100)) {
    const now = look(file, documentsOf).map((document) => String(JSON.parse(document).email));
    if (now.length > emails.length) grewMs = performance.now();
    emails = now;
    if (wanted.isSubsetOf(new Set(emails))) break;
  }
  return emails;
}

const median = (times: readonly number[]) => Math.round(times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0);
