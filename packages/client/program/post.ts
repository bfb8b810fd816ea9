/** The receiver that posts leads to an address: one signed POST for each, taken when the response is a 2xx. */
import { createHmac } from "node:crypto";
import { codeOf } from "../src/exchange.ts";
import { type Lead, SettingError } from "../src/leadfile.ts";
import { failed, type Outcome, type Receiver } from "./receiver.ts";

interface Post {
  readonly url: URL;
  readonly secret: Uint8Array;
  readonly now: () => number;
  /** The time limit of a response. */
  readonly timeoutMs: number;
}

const minSecretLength = 16;
const redirectAdvice = "--post follows no redirect. Give it the address to which this one redirects.";
const secretAdvice = "Check the address, and that LEADFILE_POST_SECRET and the clock are the same on both sides.";
const addressAdvice = "Check the address.";
/** The advice on a status that concerns all leads. */
const adviceForAll: Readonly<Record<number, string>> = {
  401: secretAdvice,
  403: secretAdvice,
  404: addressAdvice,
  405: addressAdvice,
  410: addressAdvice,
};
const slowAdvice =
  "Let it respond first and work then: it may have taken the lead already, and each try sends it again.";
/** The statuses that concern one lead: its content, its size, its type, or its meaning. */
const finalStatuses: readonly number[] = [400, 413, 415, 422];
/** A receiver that asks for a longer pause is tried again after this one. */
const maxRetryAfterMs = 3_600_000;

/**
 * An address as a receiver. The body is the lead as served; the headers are those of `headersOf`. A message shows the
 * origin alone: the path may contain a token.
 */
export function webhook({ url, secret, now, timeoutMs }: Post): Receiver {
  return async (lead) => {
    const body = JSON.stringify(lead);
    const headers = headersOf(lead, body, secret, Math.floor(now() / 1000));
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const response = await fetch(url, { method: "POST", headers, body, redirect: "manual", signal });
      // A receiver that is cut off while it responds may undo what it did. Its status has arrived already, so a body
      // that breaks off, or takes too long, changes nothing.
      await response.body?.pipeTo(new WritableStream()).catch(() => undefined);
      return response.ok || refused(url, response, lead);
    } catch (cause) {
      if (signal.aborted)
        return failed(`${url.origin} did not respond within ${timeoutMs / 1000} s.`, { advice: slowAdvice });
      const code = codeOf(cause);
      return failed(`${url.origin} could not be reached${code === null ? "" : ` (${code})`}.`);
    }
  };
}

/** The headers of a lead, as standardwebhooks.com specifies them. The ID is that of the lead, at each attempt. */
function headersOf({ id }: Lead, body: string, secret: Uint8Array, seconds: number): Record<string, string> {
  const signature = createHmac("sha256", secret).update(`${id}.${seconds}.${body}`).digest("base64");
  return {
    "Content-Type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": String(seconds),
    "webhook-signature": `v1,${signature}`,
  };
}

/** Returns the bytes of a secret: those behind whsec_ in base64, or those of the text. Throws if they are too few. */
export function readSecret(text: string): Uint8Array {
  const [, base64] = /^whsec_(.*)$/s.exec(text) ?? [];
  const isBase64 = base64 === undefined || /^[\w+/-]+={0,2}$/.test(base64);
  const bytes = base64 === undefined ? Buffer.from(text) : Buffer.from(isBase64 ? base64 : "", "base64");
  if (bytes.length >= minSecretLength) return bytes;
  throw new SettingError(
    `--post signs each lead with a secret of at least ${minSecretLength} bytes. Set LEADFILE_POST_SECRET to the secret ` +
      "of the receiver: whsec_ and base64, or the text itself.",
  );
}

function refused(url: URL, { status, headers }: Response, lead: Lead): Outcome {
  const wantedMs = Number(headers.get("retry-after")) * 1000;
  const retryAfterMs = wantedMs > 0 ? Math.min(wantedMs, maxRetryAfterMs) : 0;
  const isFinal = finalStatuses.includes(status);
  return failed(`${url.origin} answered ${status}.`, { retryAfterMs, advice: adviceOn(status, lead), isFinal });
}

/** Advice for a person on a status; empty if it passes by itself. */
function adviceOn(status: number, { identified_at }: Lead): string {
  if (status >= 500 || [408, 425, 429].includes(status)) return "";
  const waiting = "Leads wait until it answers 2xx.";
  const forAll = status < 400 ? redirectAdvice : adviceForAll[status];
  if (forAll !== undefined) return `${forAll} ${waiting}`;
  const cause =
    status === 409 ? "It must answer 2xx for a lead that it already has." : "Its log says why it refuses this lead.";
  const next = new Date(Date.parse(identified_at) + 1).toISOString();
  return (
    `${cause} ${waiting} To store such leads in a file and continue, start again with --dead-letter FILE. ` +
    `To skip this lead, start again with --since ${next} and a new checkpoint.`
  );
}
