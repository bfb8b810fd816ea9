/** Leads to an address: a signed POST for each, taken when the answer is a 2xx. */
import { createHmac } from "node:crypto";
import { systemCode } from "../../../src/operator/system-code.ts";
import { UserError } from "../../../src/user-error.ts";
import type { Lead } from "../src/leadfile.ts";
import { isLoopback } from "../src/settings.ts";
import { failed, type Outcome, type Receiver, taken } from "./receiver.ts";

interface Post {
  readonly url: URL;
  readonly secret: string;
  readonly now: () => number;
  /** How long an answer may take. */
  readonly answerMs: number;
}

const plainHttpAdvice = "Use https; --allow-plain-http overrules this.";
const slowAdvice =
  "Let it answer first and work then: it may have taken the lead already, and each try sends it again.";
/** A receiver that asks for a longer pause is asked again after this one. */
const longestRetryAfterMs = 3_600_000;

/**
 * An address as a receiver. The body is the lead as served; the headers are those of `headersOf`. A message shows the
 * origin alone: what stands behind it may be a token.
 */
export function webhook({ url, secret, now, answerMs }: Post): Receiver {
  return {
    async take(lead) {
      const body = JSON.stringify(lead);
      const headers = headersOf(lead, body, secret, Math.floor(now() / 1000));
      const signal = AbortSignal.timeout(answerMs);
      try {
        const response = await fetch(url, { method: "POST", headers, body, redirect: "manual", signal });
        await readToEnd(response);
        return response.ok ? taken : refused(url, response, lead);
      } catch (cause) {
        if (signal.aborted)
          return failed(`${url.origin} gave no answer within ${answerMs / 1000} s.`, { advice: slowAdvice });
        const code = systemCode(cause);
        return failed(`${url.origin} was not reached${code === null ? "" : ` (${code})`}.`);
      }
    },
  };
}

/**
 * A receiver that is cut off while it answers may undo what it did, and its connection would be of no more use. The
 * status has come already: an answer that breaks off, or takes too long, changes nothing.
 */
async function readToEnd({ body }: Response): Promise<void> {
  try {
    await body?.pipeTo(new WritableStream());
  } catch {
    // Nothing in it is needed.
  }
}

/** An address for leads; throws a UserError where they could be read on their way. */
export function readAddress(text: string, allowPlainHttp: boolean): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") {
    throw new UserError("--post takes an address, such as https://crm.example.com/leads.", "It holds no password.", 2);
  }
  if (url.protocol === "https:" || isLoopback(url.hostname) || allowPlainHttp) return url;
  throw new UserError("--post is plain http, and leads could be read on their way.", plainHttpAdvice, 2);
}

/** The time stands in what is signed, so that a receiver can refuse what somebody recorded and sends again. */
function headersOf(lead: Lead, body: string, secret: string, seconds: number): Record<string, string> {
  const signature = createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex");
  return {
    "Content-Type": "application/json",
    "Idempotency-Key": lead.id,
    "Leadfile-Timestamp": String(seconds),
    "Leadfile-Signature": `sha256=${signature}`,
  };
}

function refused(url: URL, { status, headers }: Response, lead: Lead): Outcome {
  const asked = Number(headers.get("retry-after"));
  const retryAfterMs = asked > 0 ? Math.min(asked * 1000, longestRetryAfterMs) : 0;
  return failed(`${url.origin} answered ${status}.`, { retryAfterMs, advice: adviceOn(status, lead) });
}

const waiting = "Leads wait until it answers 2xx.";

/** What a person does about an answer; nothing where it passes by itself. */
function adviceOn(status: number, { identified_at }: Lead): string {
  if (status >= 500 || [408, 425, 429].includes(status)) return "";
  const others = causeOfAll(status);
  if (others !== null) return `${others} ${waiting}`;
  const cause =
    status === 409 ? "For a lead that it has already, it is to answer 2xx." : "Its log says what it refuses.";
  const behind = new Date(Date.parse(identified_at) + 1).toISOString();
  return `${cause} ${waiting} To leave out this one, start again with --since ${behind} and a new checkpoint.`;
}

/** Why it takes no lead at all; null where it refuses this one. */
function causeOfAll(status: number): string | null {
  if (status < 400) return "--post follows no redirect: give it the address to which this one leads.";
  if (status === 401 || status === 403)
    return "Check the address, and that LEADFILE_POST_SECRET and the clock are the same on both sides.";
  return status === 404 || status === 405 || status === 410 ? "Check the address." : null;
}
