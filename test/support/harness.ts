/** A real server on a free port, with a file of its own, a clock that the test holds, and a client. */

import { onTestFinished } from "bun:test";
import { join } from "node:path";
import { pino } from "pino";
import { createLimiter } from "../../src/api/limiter.ts";
import type { RequestStore } from "../../src/api/request-store.ts";
import type { Lead } from "../../src/contract/lead.ts";
import type { Account } from "../../src/db/accounts.ts";
import { revokeKey } from "../../src/db/keys.ts";
import { listen } from "../../src/server/serve.ts";
import { openServedStore } from "../../src/server/store.ts";
import { newLead, noonMs } from "./builders.ts";
import { type AccountSetup, aKey, anAccount, importLeads, openTestDatabase, written } from "./database.ts";
import { aFolder } from "./folder.ts";
import { type Body, readBody } from "./shapes.ts";
import { send, type WireAnswer, type WireRequest } from "./wire.ts";

interface ServerSetup extends AccountSetup {
  readonly limit?: number;
  readonly nowMs?: number;
  readonly baseUrl?: string;
  readonly trustProxy?: boolean;
  readonly metricsToken?: string;
  /** Puts something in front of the store. */
  readonly store?: (real: RequestStore) => RequestStore;
  /** The file of a server before this one. */
  readonly file?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Body;
}

export interface Client {
  /** GET of a target below /api/v1. */
  get(target: string, headers?: Record<string, string>): Promise<Answer>;
}

/** Starts a server with one account; it stops when the test is over. */
export async function serve(setup: ServerSetup = {}) {
  const file = setup.file ?? join(aFolder(), "leadfile.db");
  const clock = { nowMs: setup.nowMs ?? noonMs };
  const logged: string[] = [];
  const database = openTestDatabase(file);
  const real = openServedStore(file);
  const store = setup.store?.(real) ?? real;
  const partsFor: Parameters<typeof listen>[1] = (port) => ({
    store,
    limiter: createLimiter(setup.limit ?? 1_000_000_000),
    log: logInto(logged),
    now: () => clock.nowMs,
    baseUrl: setup.baseUrl ?? `http://127.0.0.1:${port}`,
    trustProxy: setup.trustProxy ?? false,
    publicMetrics: false,
    metricsToken: setup.metricsToken ?? null,
    inflow: () => null,
  });
  const { url, stop } = listen({ host: "127.0.0.1", port: 0, tls: null }, partsFor, 0);
  let running = true;
  const end = async () => {
    if (!running) return;
    running = false;
    await stop();
    database.close();
    closeQuietly(real);
  };
  onTestFinished(end);
  const account = anAccount(database, setup);
  return {
    url,
    file,
    clock,
    logged,
    database,
    account,
    store: real,
    /** Stops in order, before the test is over. */
    stop: end,
    anAccount: (other: AccountSetup = {}) => anAccount(database, other),
    aKey: (of: Account = account) => aKey(database, of).secret,
    aKeyRecord: (of: Account = account) => aKey(database, of),
    aRevokedKey() {
      const { secret, id } = aKey(database, account);
      written(revokeKey(database, id, noonMs));
      return secret;
    },
    as: (key: string) => client(url, { Authorization: `Bearer ${key}` }),
    anonymous: client(url, {}),
    send: (request: WireRequest): Promise<WireAnswer> => send(url, request),
    importMore: (leads: readonly Lead[], of: Account = account) =>
      importLeads(database, of.number, leads.map(newLead), { nowMs: clock.nowMs }),
  };
}

const log = pino({ base: null });

/** Returns the log that all servers share. Creating a new one takes a fifth of the start of a server. */
function logInto(lines: string[]): pino.Logger {
  const stream = { write: (line: string) => void lines.push(line) };
  return Object.assign(log.child({}), { [pino.symbols.streamSym]: stream });
}

/** A test that broke the file on purpose cannot have it closed in order. */
function closeQuietly(store: { close(): void }): void {
  try {
    store.close();
  } catch {
    // The file is gone or broken, and so is what was to be written into it.
  }
}

export function client(url: string, usual: Record<string, string>): Client {
  return {
    async get(target, headers = {}) {
      const asked = new URL(`${url}/api/v1${target}`);
      const response = await fetch(asked, { headers: { ...usual, ...headers }, redirect: "manual" });
      const text = await response.text();
      const { status } = response;
      return { status, headers: response.headers, text, body: readBody(asked.pathname, status, text) };
    },
  };
}
