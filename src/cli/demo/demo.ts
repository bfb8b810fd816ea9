/** bun admin demo and bun run demo: an account with pixels, made-up leads, and a key, and the commands to try them with. */
import { randomInt } from "node:crypto";
import { readConfig, readDemoConfig } from "../../config.ts";
import { digestOf, createKey as generateKey, prefixOf } from "../../contract/key.ts";
import { toLeadQuery } from "../../contract/parameters.ts";
import { paths, publicPaths } from "../../contract/paths.ts";
import { formatTime } from "../../contract/time.ts";
import { type Account, createAccount, findAccount } from "../../db/accounts.ts";
import type { LeadDatabase } from "../../db/connection.ts";
import { createKey } from "../../db/keys.ts";
import { openLeads } from "../../db/leads.ts";
import { openFileDatabase } from "../../db/open.ts";
import { createPixel, listPixels } from "../../db/pixels.ts";
import type { NewLead } from "../../import/new-lead.ts";
import { type Importer, importerOn, importLeads } from "../../import/write/import.ts";
import { writeNow } from "../../runtime/process.ts";
import { stopSignal } from "../../runtime/signals.ts";
import { publicOrigin } from "../../server/listen-address.ts";
import { seconds, wholeNumber } from "../arguments.ts";
import { type AnyCommand, type CommandContext, type Installed, jsonCommand } from "../command.ts";
import { grouped, leadsText } from "../terminal/numbers.ts";
import { createInventor, demoLeads, demoPixels, newLead } from "./leads.ts";

const demoName = "Demo";
const leadCount = 1000;

/** May be repeated: what exists stays, and each run creates one more key. With --live, adds leads until Ctrl-C. */
export function demoCommand(context: CommandContext): AnyCommand {
  return jsonCommand("demo", ["demo", "demo --live --every 2 --seed 7"])
    .option("--live", "then add leads until Ctrl-C, to test a polling client")
    .option("--every <SECONDS>", "with --live: seconds between leads", seconds("--every", 0.01, 86_400), 5)
    .option(
      "--seed <NUMBER>",
      "with --live: the same number generates the same visitors",
      wholeNumber("--seed", 0, 999_999_999),
    )
    .action(async ({ live, every, seed = randomInt(1_000_000_000) }) => {
      const url = publicOrigin(readConfig());
      const database = context.database("create");
      const demo = await makeDemo(database, await database.importer(), context.now());
      const { account, pixels, key } = demo;
      context.output.result({ account: account.id, pixels, key, url }, demoText(demo, url));
      if (live === true) await addLeadsUntilStopped(context, demo, every, seed);
    });
}

/** Starts a server with its own database and made-up leads, and prints commands to try. Throws a UserError if it cannot start. */
export async function startDemo({ serving }: Installed): Promise<void> {
  const config = readDemoConfig();
  const database = openFileDatabase(config.databasePath);
  const demo = await makeDemo(database, importerOn(database.read), Date.now());
  database.close();
  const { serve } = await import("../../server/serve.ts");
  const { url, baseUrl } = await serve(config, await serving(config));
  writeNow(1, `listening on ${url}\n\n${demoText(demo, baseUrl)}\nPress Ctrl-C to stop.\n`);
}

type Demo = Awaited<ReturnType<typeof makeDemo>>;

/** Creates the account, its pixels, and its leads if they do not exist, and always a new key. */
async function makeDemo(database: LeadDatabase, importer: Importer, nowMs: number) {
  const account = findAccount(database.read, demoName) ?? (await createAccount(database, demoName, nowMs));
  if (account === null) throw new Error("another program created the account at the same time");
  const key = generateKey();
  await createKey(database, account, { digest: digestOf(key), prefix: prefixOf(key), label: "demo" }, nowMs);
  const page = (limit: number) => openLeads(database.read).page(account.number, toLeadQuery({ limit }));
  if (page(1).documents.length === 0) {
    for (const id of demoPixels) await createPixel(database, account.number, { id, status: "active" }, nowMs);
    await addLeads(importer, account, demoLeads(account.id, leadCount, nowMs), nowMs);
  }
  return {
    account,
    pixels: listPixels(database.read, account.number).map(({ id }) => id),
    key,
    /** A cursor to try paging with, and a time to try polling with. */
    cursor: formatTime(page(3).nextMs ?? nowMs),
    newest: formatTime(page(1).nextMs ?? nowMs),
  };
}

/** Adds leads to the import with the number `continues`, or as a new import if that is null. Returns the number of the import. */
async function addLeads(
  importer: Importer,
  account: Account,
  leads: readonly NewLead[],
  startedMs: number,
  continues: number | null = null,
): Promise<number | null> {
  const origin = { file: "demo", by: "demo", rejectsFile: null, startedMs, continues };
  let number = continues;
  const staged = importer(account, { onDuplicate: "skip", createPixels: true }, origin);
  for await (const { importNumber } of importLeads(staged, leads, () => startedMs)) number = importNumber;
  return number;
}

/** The commands to paste into another terminal. */
function demoText({ key, cursor, newest }: Demo, url: string): string {
  const get = (path: string) => `curl -H "Authorization: Bearer $LEADFILE_KEY" "${url}${path}"`;
  return `${grouped(leadCount)} sample leads are ready. Paste into another terminal:

  export LEADFILE_KEY=${key}

  # the first page, and the next one
  ${get(`${paths.leads}?limit=3`)}
  ${get(`${paths.leads}?limit=3&before=${cursor}`)}

  # a filter
  ${get(`${paths.leads}?state=CA&city=San%20Diego&has_email=true`)}

  # a poll: leads since the newest one
  ${get(`${paths.leads}?since=${newest}`)}

  # pixels and usage
  ${get(paths.pixels)}
  ${get(paths.usage)}

${url}${publicPaths.docs} documents the API.
`;
}

/** Invents a lead every few seconds until Ctrl-C. Each is stored before it is shown, and all of them are one import. */
async function addLeadsUntilStopped(
  context: CommandContext,
  { account }: Demo,
  every: number,
  seed: number,
): Promise<void> {
  const invent = createInventor(seed);
  const importer = await context.database().importer();
  context.output.say(`Adding a lead every ${every} s until Ctrl-C. --seed ${seed} generates the same visitors again.`);
  let [count, importNumber]: [number, number | null] = [0, null];
  for (const stop = stopSignal(); ; count++) {
    await context.sleep(every * 1000, stop);
    if (stop.aborted) break;
    const nowMs = context.now();
    const visit = invent();
    // A lead without a time gets the newest time of its account, so a client that polls finds it.
    const lead = { ...newLead(account.id, nowMs, visit), identifiedMs: null };
    importNumber = await addLeads(importer, account, [lead], nowMs, importNumber);
    const { name, city, state, page_url: page } = visit.details;
    // All pages are of the same site.
    context.output.say(
      `${formatTime(nowMs)}  ${name} from ${city}, ${state}, at ${page?.replace(/^https:\/\/[^/]+/, "")}`,
    );
  }
  context.output.say(`\nAdded ${leadsText(count)}. They and the key are kept.`);
}
