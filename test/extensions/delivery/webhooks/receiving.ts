/** A webhook endpoint on a free port, with a file and a spool of its own. */
import { onTestFinished } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { createEndpoint, listenForDeliveries } from "../../../../extensions/delivery/webhooks/endpoint.ts";
import { openSpool, type Spool } from "../../../../extensions/delivery/webhooks/spool.ts";
import { createKey, digestOf, prefixOf } from "../../../../src/contract/key.ts";
import { createSource, findSourceByDigest, type SourceSignature } from "../../../../src/db/sources.ts";
import type { Admin } from "../../../support/admin.ts";
import { noonMs } from "../../../support/builders.ts";
import { anAccount, openTestDatabase, written } from "../../../support/database.ts";
import { aFolder } from "../../../support/folder.ts";

interface ReceivingSetup {
  /** Puts something in front of the spool. */
  readonly spool?: (real: Spool) => Spool;
  readonly trustProxy?: boolean;
  /** How deliveries are signed. */
  readonly signature?: SourceSignature;
  /** The time of the clock. */
  readonly nowMs?: number;
  /** Runs when the endpoint wants the newest state, which a node of a cluster may not have yet. */
  readonly catchUp?: () => void;
  /** After how long a connection is closed on which nothing goes out. */
  readonly idleSeconds?: number;
}

/** Opens an endpoint with one source; it closes when the test is over. */
export async function receive(setup: ReceivingSetup = {}) {
  const folder = aFolder();
  const database = openTestDatabase(join(folder, "leadfile.db"));
  const account = anAccount(database);
  const spoolFolder = join(folder, "spool");
  const real = await openSpool(spoolFolder, Date.now);
  const logged: string[] = [];
  const log = pino({ base: null }, { write: (line: string) => void logged.push(line) });
  const endpoint = createEndpoint({
    database: { read: database.read, catchUp: async () => setup.catchUp?.() },
    spool: setup.spool?.(real) ?? real,
    log,
    now: () => setup.nowMs ?? Date.now(),
    baseUrl: "https://www.example.com",
    trustProxy: setup.trustProxy ?? false,
  });
  const { url, stop } = listenForDeliveries({ host: "127.0.0.1", port: 0, tls: null }, endpoint, {
    idleSeconds: setup.idleSeconds,
    lastCallMs: 0,
  });
  onTestFinished(async () => {
    await stop();
    // The folder is gone by then, and with it what was to be completed.
    await real.complete().catch(() => undefined);
    database.close();
  });
  const aSource = (token = createKey("lfin_"), signature: SourceSignature | null = setup.signature ?? null) => {
    const made = { digest: digestOf(token), prefix: prefixOf(token), label: null, options: {}, signature };
    written(createSource(database, account, made, noonMs));
    return { token, id: findSourceByDigest(database.read, made.digest)?.id ?? "" };
  };
  const { token, id } = aSource();
  return {
    url,
    folder: spoolFolder,
    database,
    token,
    id,
    aSource,
    logged,
    spool: real,
    /** Delivers a body to the source of the test. */
    deliver: (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
      fetch(`${url}/in/${token}`, { method: "POST", body, headers }),
    /** Every visit that is on the disk, whatever its file. */
    kept: (sourceId = id) => visitsIn(join(spoolFolder, sourceId)),
  };
}

/** The visits in the files of a folder, or the lines of other files, in the order of their names. */
export function visitsIn(folder: string): unknown[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .toSorted()
    .flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n"))
    .filter((line) => line !== "")
    .flatMap((line): unknown[] => {
      const { records, ...others } = JSON.parse(line);
      return records ?? [others];
    });
}

/** The sentence of a refusal. */
export async function sentenceOf(answer: Response): Promise<string> {
  const body = (await answer.json()) as { error: { message: string } }; // What every refusal has.
  return body.error.message;
}

/** Starts `bun admin receive`, which imports what came every so many seconds. Returns it with the address that it prints. */
export async function startReceiving(admin: Admin, everySeconds = 0.1) {
  const endpoint = admin.start("receive", "--every", String(everySeconds));
  return { endpoint, url: await endpoint.listening() };
}
