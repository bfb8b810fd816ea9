/** Failed requests: errors, safe retries, and waits. */
import { expect, test } from "bun:test";
import { inspect } from "node:util";
import {
  type ApiError,
  InvalidApiKeyError,
  InvalidCursorError,
  InvalidParameterError,
  Leadfile,
  NetworkError,
  NotFoundError,
  QueryFailedError,
  RateLimitExceededError,
  RedirectError,
  RevokedApiKeyError,
  SettingError,
  SubscriptionRequiredError,
  TimeoutError,
  UnexpectedAnswerError,
  UnknownPixelError,
} from "../../../packages/client/src/leadfile.ts";
import { DatabaseUnavailable } from "../../../src/db/connection.ts";
import { answering } from "../../support/answering.ts";
import { someLeads } from "../../support/builders.ts";
import { connected } from "./connected.ts";
import { everyFault } from "./line.ts";

const thrownBy = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: unknown) => error,
  );

test("an error of the server is thrown as the class of its code, without a retry, with docs and request ID", async () => {
  const { leadfile, aClient, aKey, aRevokedKey, anAccount, line, url } = await connected();
  const lapsed = aKey(anAccount({ active: false }));
  const wrong = [
    [leadfile.leads.list({ limit: 101 }), InvalidParameterError, "limit"],
    [leadfile.leads.list({ before: "soon" }), InvalidCursorError, "before"],
    [leadfile.leads.list({ pixel_id: "px_none" }), UnknownPixelError, "pixel_id"],
    [aClient({ key: `${aKey().slice(0, -1)}_` }).usage.get(), InvalidApiKeyError, "does not exist"],
    [aClient({ key: aRevokedKey() }).usage.get(), RevokedApiKeyError, "revoked"],
    [aClient({ key: lapsed }).usage.get(), SubscriptionRequiredError, "subscription"],
    [aClient({ baseUrl: `${line.url}/other` }).usage.get(), NotFoundError, "endpoint"],
  ] as const;
  // All are waited for at once: an error that nobody waits for yet would end the test.
  const thrown = await Promise.all(wrong.map(([promise]) => thrownBy(promise)));
  for (const [place, [, type, word]] of wrong.entries()) {
    const error = thrown[place];
    expect(error).toBeInstanceOf(type);
    expect(error).toMatchObject({ message: expect.stringContaining(word), requestId: expect.stringMatching(/\S/) });
    expect((error as ApiError).docs).toBe(`${url}/docs#${(error as ApiError).code}`);
  }
  expect(line.heads).toHaveLength(wrong.length);
});

test("retries a server error with growing pauses, and then throws it", async () => {
  const store = (real: object) =>
    Object.assign(Object.create(real), {
      pixels: {
        list() {
          throw new DatabaseUnavailable("The disk is gone.", "");
        },
      },
    });
  const { leadfile, line, slept } = await connected({ store });
  expect(await thrownBy(leadfile.pixels.list())).toBeInstanceOf(QueryFailedError);
  expect(line.heads).toHaveLength(5);
  expect(slept).toEqual([500, 1000, 2000, 4000]);
});

test.each([
  ["drop", NetworkError],
  ["cut", NetworkError],
  ["html", UnexpectedAnswerError],
  ["garbage", UnexpectedAnswerError],
  ["busy", UnexpectedAnswerError],
  ["late", TimeoutError],
] as const)(
  "repeats a request that meets the fault %s, and throws %p once no retries are left",
  async (fault, type) => {
    const leads = someLeads(2);
    // Only what is late is given up: a slow machine is no fault.
    const { leadfile, line } = await connected({ leads }, { timeout: fault === "late" ? "2s" : "1m", retries: 1 });
    line.faults.push(fault, "none", fault, fault);
    expect((await leadfile.leads.list()).data).toEqual(leads.toReversed());
    const error = await thrownBy(leadfile.leads.list());
    expect(error).toBeInstanceOf(type);
    expect(error).toMatchObject({ transient: true });
    expect(line.heads.map((head) => head.split("\r\n")[0])).toEqual(Array(4).fill("GET /api/v1/leads HTTP/1.1"));
  },
);

test("waits for the next window instead of causing a 429", async () => {
  const { leadfile, line, slept, clock } = await connected({ limit: 3 });
  const begunMs = clock.nowMs;
  for (let count = 0; count < 7; count++) await leadfile.usage.get();
  expect(line.heads).toHaveLength(7);
  expect(slept).toEqual([50_000, 60_000]);
  expect(clock.nowMs - begunMs).toBe(110_000);
});

test("honors Retry-After and retries if another client uses up the window", async () => {
  const { leadfile, aClient, slept } = await connected({ limit: 2 });
  await leadfile.usage.get();
  await aClient().usage.get();
  await leadfile.usage.get();
  expect(slept).toEqual([60_000]);
});

test("a client that does not wait throws the 429 with its Retry-After", async () => {
  const { leadfile, line } = await connected({ limit: 1 }, { longestWait: 0 });
  await leadfile.usage.get();
  const error = await thrownBy(leadfile.usage.get());
  expect(error).toBeInstanceOf(RateLimitExceededError);
  expect(error).toMatchObject({ status: 429, retryAfterMs: 60_000 });
  expect(line.heads).toHaveLength(2);
});

test("an abort ends a request, a wait, and a walk with the reason of the signal", async () => {
  const { leadfile, line } = await connected({ leads: someLeads(5) });
  const reason = new Error("enough");
  for (const call of [
    (signal: AbortSignal) => leadfile.leads.list({ signal }),
    (signal: AbortSignal) => Array.fromAsync(leadfile.leads.all({ signal, pageSize: 1 })),
    (signal: AbortSignal) => leadfile.pixels.list({ signal }),
    (signal: AbortSignal) => leadfile.usage.get({ signal }),
  ]) {
    line.faults.push("late");
    const controller = new AbortController();
    const failed = thrownBy(call(controller.signal));
    controller.abort(reason);
    expect(await failed).toBe(reason);
    expect(await thrownBy(call(AbortSignal.abort(reason)))).toBe(reason);
    line.faults.length = 0;
  }
});

test("an abort ends a wait on the system clock", async () => {
  const { line, key } = await connected();
  line.faults.push("busy");
  const leadfile = new Leadfile({ baseUrl: line.url, key });
  const controller = new AbortController();
  const failed = thrownBy(leadfile.usage.get({ signal: controller.signal }));
  while (line.heads.length === 0) await Bun.sleep(1);
  controller.abort(new Error("enough"));
  expect(await failed).toMatchObject({ message: "enough" });
  expect(line.heads).toHaveLength(1);
});

test("never follows a redirect, and the error names the target", async () => {
  const met: (string | null)[] = [];
  const other = answering(({ headers }) => {
    met.push(headers.get("authorization"));
    return new Response();
  });
  for (const status of [301, 302, 303, 307, 308]) {
    const headers = { Location: `${other}/api/v1/usage` };
    const baseUrl = answering(() => new Response(null, { status, headers }));
    const error = await thrownBy(new Leadfile({ baseUrl, key: "lf_someKey1" }).usage.get());
    expect(error).toBeInstanceOf(RedirectError);
    expect(error).toMatchObject({ location: other, transient: false });
    expect((error as Error).message).toContain(`set baseUrl to ${other}`);
  }
  expect(met).toEqual([]);
});

test("the key never appears in a URL, an error, or an inspected client", async () => {
  const { line, leadfile, key, aClient } = await connected({}, { retries: 0, timeout: "2s" });
  const echo = async (_: string, init: RequestInit) => {
    const said = `I got ${new Headers(init.headers).get("authorization")}`;
    const error = { code: "internal_error", message: said, docs: said };
    return Response.json({ error }, { status: 500, headers: { "X-Request-Id": said } });
  };
  const leak = async (url: string, init: RequestInit) => {
    throw Object.assign(new TypeError(`failed with ${JSON.stringify(init)}`), { init, url, cause: init });
  };
  line.faults.push(...everyFault);
  const errors: unknown[] = [];
  for (const _ of everyFault) errors.push(await thrownBy(leadfile.leads.list({ city: "x" })));
  for (const fetch of [echo, leak]) errors.push(await thrownBy(aClient({ fetch, retries: 0 }).usage.get()));
  errors.push(await thrownBy(leadfile.leads.list({ limit: 0 })));
  for (const shown of [leadfile, ...errors]) {
    const text = inspect(shown, { depth: null, showHidden: true }) + JSON.stringify(shown) + String(shown);
    expect(text).not.toContain(key);
    expect(text).not.toContain(key.slice(3));
  }
  expect(errors.every((error) => error instanceof Error)).toBe(true);
  expect(line.heads.length).toBeGreaterThan(0);
  for (const head of line.heads) expect(head.split("\r\n")[0]).not.toContain(key);
});

test.each([
  [{ baseUrl: "www.example.com" }, "https://www.example.com"],
  [{ baseUrl: "https://www.example.com/?key=x" }, "without ? and #"],
  [{ baseUrl: "https://me:secret@www.example.com" }, "without a password"],
  [{ baseUrl: "https://www.example.com/api/v1" }, "before /api/v1"],
  [{ baseUrl: "http://www.example.com" }, "https"],
  [{ key: "" }, "without quotes"],
  [{ key: "lf_abcdefgh\n" }, "without quotes"],
  [{ key: '"lf_abcdefgh"' }, "without quotes"],
  [{ retries: -1 }, "retries"],
  [{ timeout: "soon" as "1s" }, "timeout"],
  [{ longestWait: -1 }, "longestWait"],
])("rejects the option %p with advice", (over, words) => {
  const make = () => new Leadfile({ baseUrl: "https://www.example.com", key: "lf_someKey1", ...over });
  expect(make).toThrow(SettingError);
  expect(make).toThrow(words);
});

test.each([
  { baseUrl: "https://www.example.com/" },
  { baseUrl: "https://www.example.com/behind/a/path/" },
  { baseUrl: "http://localhost:3000" },
  { baseUrl: "http://[::1]:3000" },
  { baseUrl: "http://leadfile.internal", allowPlainHttp: true },
  { timeout: "1.5m", longestWait: "2h", retries: 0 } as const,
])("accepts the option %p", (over) => {
  expect(new Leadfile({ baseUrl: "https://www.example.com", key: "lf_someKey1", ...over })).toBeInstanceOf(Leadfile);
});

test("an unknown setting is refused with those that exist", () => {
  const options = { baseUrl: "https://www.example.com", key: "lf_someKey1", maxRetries: 3 };
  expect(() => new Leadfile(options)).toThrow("The setting maxRetries is unknown. Settings are baseUrl, key, retries,");
});

test("a key from a function is asked for before each request, so that a rotation needs no restart", async () => {
  const { aClient, aKey, key, line } = await connected();
  const keys = [key, aKey()];
  const leadfile = aClient({ key: async () => keys.shift() ?? "" });
  await leadfile.usage.get();
  await leadfile.usage.get();
  const sent = line.heads.map((head) => /^authorization: bearer (.*)\r$/im.exec(head)?.[1]);
  expect(new Set(sent).size).toBe(2);
  expect(await thrownBy(leadfile.usage.get())).toBeInstanceOf(SettingError);
});

test("a code that a later version of the API adds is readable", async () => {
  const error = { code: "account_frozen", message: "The account is frozen.", docs: "https://www.example.com/docs" };
  const { aClient } = await connected();
  const leadfile = aClient({ fetch: async () => Response.json({ error }, { status: 409 }) });
  expect(await thrownBy(leadfile.usage.get())).toMatchObject({
    ...error,
    name: "AccountFrozenError",
    status: 409,
    transient: false,
  });
});

test("onRetry is told of each pause: after a failure, at the limit, and before it", async () => {
  const told: unknown[] = [];
  const { leadfile, aClient, line } = await connected(
    { limit: 2 },
    { onRetry: ({ error, attempt, waitMs }) => void told.push([error?.name ?? null, attempt, waitMs]) },
  );
  line.faults.push("html");
  await leadfile.usage.get();
  expect(told).toEqual([["UnexpectedAnswerError", 1, 500]]);
  await aClient().usage.get();
  await leadfile.usage.get();
  expect(told.slice(1)).toEqual([["RateLimitExceededError", 1, 60_000]]);
  await leadfile.usage.get();
  await leadfile.usage.get();
  expect(told.slice(2)).toEqual([[null, 0, expect.any(Number)]]);
});
