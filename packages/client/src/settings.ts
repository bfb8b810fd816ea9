/** The settings of a client, which are checked once at the start. No error shows the key. */

import { type LeadfileError, SettingError } from "./errors.ts";
import type { Fetch } from "./exchange.ts";
import { type Clock, type Duration, systemClock, toMs } from "./time.ts";

/** A pause before a request. */
export interface Retry {
  /** The failure of the last attempt; null if the client pauses to keep to the limit. */
  readonly error: LeadfileError | null;
  /** The number of attempts that failed. */
  readonly attempt: number;
  readonly waitMs: number;
}

export interface LeadfileOptions {
  /** The address of the server, such as https://www.example.com: everything before /api/v1. */
  readonly baseUrl: string;
  /** The API key, or a function that returns it before each request, so that a rotation needs no restart. */
  readonly key: string | (() => string | Promise<string>);
  /** The number of times that a request is repeated after a 429, a 5xx, or a broken connection. 4 by default. */
  readonly retries?: number | undefined;
  /** The time for one response. 30 seconds by default. */
  readonly timeout?: Duration | undefined;
  /** The longest wait for the limit or a Retry-After; instead of a longer one, the call throws. 2 minutes by default. */
  readonly longestWait?: Duration | undefined;
  /** Replaces the global fetch. */
  readonly fetch?: Fetch | undefined;
  /** Sends the key over plain HTTP to another machine. Others on the network can read it. */
  readonly allowPlainHttp?: boolean | undefined;
  /** Runs in a browser, where every visitor can read the key. */
  readonly dangerouslyAllowBrowser?: boolean | undefined;
  /** Is called before each pause: after a failure that passes, and when the requests of a minute are used up. */
  readonly onRetry?: ((retry: Retry) => void) | undefined;
  /** Replaces the clock of the system, for tests. */
  readonly clock?: Clock | undefined;
}

/** Every setting: the compiler completes this list. */
const known: Readonly<Record<keyof LeadfileOptions, true>> = {
  baseUrl: true,
  key: true,
  retries: true,
  timeout: true,
  longestWait: true,
  fetch: true,
  allowPlainHttp: true,
  dangerouslyAllowBrowser: true,
  onRetry: true,
  clock: true,
};

/** Throws a SettingError for the first name that is unknown: a misspelled setting would have no effect. */
export function refuseUnknown(options: object, names: Readonly<Record<string, true>>): void {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(names, name));
  if (unknown === undefined) return;
  throw new SettingError(`The setting ${unknown} is unknown. Settings are ${Object.keys(names).join(", ")}.`);
}

export type Settings = ReturnType<typeof readSettings>;

/** Returns the checked settings. Throws a SettingError that says what is accepted. */
export function readSettings(options: LeadfileOptions) {
  refuseUnknown(options, known);
  const retries = options.retries ?? 4;
  if (!(Number.isInteger(retries) && retries >= 0)) throw new SettingError("retries takes a whole number from 0.");
  if (options.dangerouslyAllowBrowser !== true && isBrowser()) {
    throw new SettingError(
      "This is a browser: anyone who opens the page could read the key. Call the API from a server. " +
        "To call it from the browser anyway, set dangerouslyAllowBrowser: true.",
    );
  }
  return {
    baseUrl: readBaseUrl(options.baseUrl, options.allowPlainHttp === true),
    key: keyOf(options.key),
    retries,
    timeoutMs: toMs("timeout", options.timeout ?? "30s"),
    maxWaitMs: toMs("longestWait", options.longestWait ?? "2m"),
    // Some runtimes refuse a fetch that is called as a method of another object.
    fetch: options.fetch ?? ((url: string, init: RequestInit) => globalThis.fetch(url, init)),
    onRetry: options.onRetry,
    clock: options.clock ?? systemClock,
  };
}

/** Returns the address without a slash at its end. */
function readBaseUrl(text: string, allowPlainHttp: boolean): string {
  const url = readAddress("baseUrl", text, "https://www.example.com", allowPlainHttp);
  if (/[?#]|\/api(?:\/v1)?\/*$/.test(text)) {
    throw new SettingError(
      "baseUrl takes the address before /api/v1, without ? and #, such as https://www.example.com.",
    );
  }
  return url.origin + url.pathname.replace(/\/+$/, "");
}

/** Returns an address to which nobody else can read what is sent. Throws a SettingError that names the setting. */
export function readAddress(setting: string, text: string, example: string, allowPlainHttp: boolean): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") {
    throw new SettingError(
      `${setting} takes an address that begins with https://, without a password, such as ${example}.`,
    );
  }
  if (url.protocol === "https:" || isLoopback(url.hostname) || allowPlainHttp) return url;
  throw new SettingError(`${setting} is plain http, which others can read. Use https, or set allowPlainHttp: true.`);
}

/** Returns whether the host name of an address is that of this machine. */
export function isLoopback(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}

/** Returns a function that returns the key. A key given as text is checked now, any other one before each request. */
function keyOf(key: LeadfileOptions["key"]): () => Promise<string> {
  if (typeof key === "function") return async () => readKey(await key());
  const checked = readKey(key);
  return async () => checked;
}

/** A key with a line break or a quote would fail as a header, in an error that shows the key. */
function readKey(key: string): string {
  if (typeof key === "string" && /^[\w.~+/=-]{8,}$/.test(key)) return key;
  throw new SettingError("key takes the API key as it was shown, without quotes, spaces or line ends.");
}

/** A page has a document; a worker in a browser has at least the name of the browser. */
function isBrowser(): boolean {
  // The types of this package are those of no browser.
  const { document, navigator } = globalThis as { document?: unknown; navigator?: { userAgent?: unknown } };
  return document !== undefined || /^Mozilla\//.test(String(navigator?.userAgent));
}
