/** A check, and the probe that it uses: it sends requests, keeps to the limit, and keeps every response for the last checks. */
import type { z } from "zod";
import { exchange, parse, untilReset, windowMs } from "../../client/src/exchange.ts";
import { errorBody, type KnownLead, leadPage, paths } from "./specification.ts";

export interface Keys {
  readonly live: string;
  readonly revoked: string | null;
  /** Of an account without an active subscription. */
  readonly unsubscribed: string | null;
}

export interface RequestOptions {
  readonly method?: string;
  /** The Authorization header; null for none, the live key by default. */
  readonly authorization?: string | null;
  readonly origin?: string;
  /** True if the check expects a 429. */
  readonly overLimit?: boolean;
}

/** One answer of the server under test. */
interface Answer {
  /** The request, for the report: a method and a target, never a key. */
  readonly asked: string;
  readonly status: number;
  readonly headers: Headers;
  /** Undefined if it is not JSON. */
  readonly body: unknown;
}

export type Probe = ReturnType<typeof createProbe>;

/** A check passes if it returns; otherwise it throws that it failed or was skipped. */
export interface Check {
  /** The section of the specification, such as 4.1. */
  readonly section: string;
  readonly title: string;
  readonly run: (probe: Probe) => Promise<void>;
}

/** A check of a section; its title is a sentence about a server that conforms. */
export function check(section: string, title: string, run: Check["run"]): Check {
  return { section, title, run };
}

export class Failed extends Error {}
export class Skipped extends Error {}

/** Fails the check unless something holds. */
export function need(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Failed(otherwise);
}

/** Skips the check, because it cannot be made here. */
export function skip(reason: string): never {
  throw new Skipped(reason);
}

/** Fails the check unless a value has a shape. The reason names no value, which may be personal data. */
export function needShape<Shape extends z.ZodType>(shape: Shape, value: unknown, what: string): z.infer<Shape> {
  const [issue] = shape.safeParse(value).error?.issues ?? [];
  need(issue === undefined, `${what}: ${[issue?.path.join("."), issue?.message].filter(Boolean).join(": ")}`);
  return value as z.infer<Shape>; // No shape changes a value, and a parsed one has its fields in another order.
}

/** Fails the check unless a response has this status and code, such as "404 not_found", and the body of an error. */
export function needError({ asked, status, body }: Answer, wanted: string): void {
  const { error } = needShape(errorBody, body, `${asked} answered ${status}`);
  need(`${status} ${error.code}` === wanted, `${asked} answered ${status} ${error.code}`);
}

export interface ProbeOptions {
  readonly sleep: (ms: number) => Promise<unknown>;
  /** Is called before each wait. */
  readonly say: (text: string) => void;
}

const timeoutMs = 30_000;

/** Makes the probe of one run of all checks. With `limits`, a check may use up a window of the key. */
export function createProbe(baseUrl: string, keys: Keys, limits: boolean, { sleep, say }: ProbeOptions) {
  const url = new URL(baseUrl);
  const answers: Answer[] = [];
  let known: readonly KnownLead[] | null = null;
  /** True if the server refused a request right after a wait, so that further waits would not help. */
  let refusesAll = false;

  /** Waits until the window of a response is over. */
  async function nextWindow({ headers }: Answer): Promise<void> {
    const untilResetMs = untilReset(headers) ?? windowMs;
    say(`The rate limit of this minute is reached; waiting ${Math.ceil(untilResetMs / 1000)} s.`);
    await sleep(untilResetMs);
  }

  /** Sends a request, once more in the next window if the limit is used up. Its response is added to all others. */
  async function ask(target: string, how: RequestOptions = {}): Promise<Answer> {
    let answer = await send(url, keys.live, target, how);
    if (answer.status === 429 && how.overLimit !== true) {
      if (!refusesAll) {
        await nextWindow(answer);
        answer = await send(url, keys.live, target, how);
      }
      refusesAll = answer.status === 429;
      need(!refusesAll, "429 is answered even after a wait for the next minute");
    }
    answers.push(answer);
    return answer;
  }

  /** Requests a body. Fails the check if the response is not a 200, or the body has another shape. */
  async function get<Shape extends z.ZodType>(target: string, shape: Shape): Promise<z.infer<Shape>> {
    const { asked, status, body } = await ask(target);
    need(status === 200, `${asked} gave ${status} and not 200`);
    return needShape(shape, body, asked);
  }

  const page = (query: Readonly<Record<string, string>> = {}) =>
    get(`${paths.leads}?${new URLSearchParams(query)}`.replace(/\?$/, ""), leadPage);

  return {
    url,
    keys,
    limits,
    answers: answers as readonly Answer[], // Only the probe adds to it.
    ask,
    get,
    page,
    nextWindow,
    /** Returns the newest leads, the same at every call. Skips the check if there are too few. */
    async leads(atLeast: number): Promise<readonly KnownLead[]> {
      known ??= (await page({ limit: "100" })).data;
      if (known.length < atLeast) skip(`the account has ${known.length} leads, and this takes ${atLeast}`);
      return known;
    },
  };
}

/** Sends one request, with the live key by default. Throws a LeadfileError if the server does not respond. */
async function send(url: URL, liveKey: string, target: string, how: RequestOptions): Promise<Answer> {
  const { method = "GET", authorization = `Bearer ${liveKey}` } = how;
  const origin = how.origin ?? url.origin + url.pathname.replace(/\/$/, "");
  const headers = authorization === null ? {} : { Authorization: authorization };
  const limits = { timeoutMs, signal: undefined };
  const { response, text } = await exchange(fetch, new URL(origin + target), { method, headers }, limits);
  return { asked: `${method} ${target}`, status: response.status, headers: response.headers, body: parse(text) };
}
