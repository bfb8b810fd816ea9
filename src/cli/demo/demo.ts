/** bun admin demo: an account with pixels, made-up leads and a key, and the lines to try them with. */

import { type Command, Option } from "commander";
import { publicOrigin, readConfig } from "../../config.ts";
import { digestOf } from "../../contract/key.ts";
import { createKey, prefixOf } from "../../contract/new-key.ts";
import { paths, publicPaths } from "../../contract/paths.ts";
import { writeMoment } from "../../contract/time.ts";
import type { AdminStore } from "../../store/admin.ts";
import type { Account } from "../../store/repositories.ts";
import { readSeconds, readWholeNumber } from "../arguments.ts";
import { type CommandContext, jsonCommand, outputOf } from "../command.ts";
import { grouped } from "../terminal/numbers.ts";
import { demoLeads, demoPixels } from "./leads.ts";
import { goOn } from "./live.ts";

const demoName = "Demo";
const leadCount = 1000;

interface Demo {
  /** The id of the account. */
  readonly account: string;
  readonly pixels: readonly string[];
  readonly key: string;
  /** A cursor and a moment to try paging and polling with. */
  readonly cursor: string;
  readonly newest: string;
}

interface DemoOptions {
  readonly live?: boolean;
  readonly every: number;
  readonly seed?: number;
  readonly json?: boolean;
}

export function demoCommand(context: CommandContext): Command {
  return jsonCommand("demo")
    .description("make an account with three pixels, 1,000 made-up leads and a key")
    .option("--live", "then go on inventing leads until Ctrl-C, to watch a poller work")
    .addOption(
      new Option("--every <SECONDS>", "from one lead to the next")
        .default(5)
        .argParser((text) => readSeconds("--every", text, 0.01, 86_400)),
    )
    .addOption(
      new Option("--seed <NUMBER>", "invent the same visitors each time").argParser((text) =>
        readWholeNumber("--seed", text, 0, 999_999_999),
      ),
    )
    .action(async (options: DemoOptions) => {
      const url = publicOrigin(readConfig());
      const demo = makeDemo(context.store(), context.now());
      const { account, pixels, key } = demo;
      const output = outputOf(options);
      output.result({ account, pixels, key, url }, demoText(demo, url));
      if (options.live === true) await goOn(context, output, account, options);
    });
}

/** Makes what is not there yet, and a fresh key in any case. */
export function makeDemo(store: AdminStore, nowMs: number): Demo {
  const account = store.accounts.find(demoName) ?? store.accounts.create(demoName, nowMs);
  if (account === null) throw new Error("the account was made by somebody else in this very moment");
  const key = createKey();
  store.keys.create(account.number, { digest: digestOf(key), prefix: prefixOf(key), label: "demo" }, nowMs);
  const everything = { beforeMs: null, sinceMs: null, pixelId: null, state: null, city: null, hasEmail: false };
  if (store.leads.page(account.number, { ...everything, limit: 1 }).documents.length === 0) fill(store, account, nowMs);
  const { nextMs } = store.leads.page(account.number, { ...everything, limit: 3 });
  const newest = store.leads.page(account.number, { ...everything, limit: 1 }).nextMs;
  return {
    account: account.id,
    pixels: store.pixels.list(account.number).map(({ id }) => id),
    key,
    cursor: writeMoment(nextMs ?? nowMs),
    newest: writeMoment(newest ?? nowMs),
  };
}

function fill(store: AdminStore, account: Account, nowMs: number): void {
  for (const id of demoPixels) store.pixels.create(account.number, { id, status: "active" }, nowMs);
  const target = store.leads.beginImport(account.number, { onDuplicate: "skip" });
  const leads = demoLeads(account.id, leadCount, nowMs);
  for (let done = 0; done < leads.length; ) done += target.write(leads.slice(done), nowMs).length;
}

/** Lines to paste into another terminal. */
export function demoText({ key, cursor, newest }: Demo, url: string): string {
  const get = (path: string) => `curl -H "Authorization: Bearer $LEADFILE_KEY" "${url}${path}"`;
  return `${grouped(leadCount)} made-up leads are ready. Paste into another terminal:

  export LEADFILE_KEY=${key}

  # the first page, and the next one
  ${get(`${paths.leads}?limit=3`)}
  ${get(`${paths.leads}?limit=3&before=${cursor}`)}

  # a filter
  ${get(`${paths.leads}?state=CA&city=San%20Diego&has_email=true`)}

  # a poll: what has come since the newest lead
  ${get(`${paths.leads}?since=${newest}`)}

  # pixels and usage
  ${get(paths.pixels)}
  ${get(paths.usage)}

In a browser, ${url}${publicPaths.docs} teaches the rest.
`;
}
