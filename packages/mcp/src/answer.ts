/** What a tool answers: a value as JSON, or in one sentence why there is none and what to do. */

import { messageOf } from "../../client/program/api-client.ts";
import {
  ApiError,
  InvalidApiKeyError,
  LeadfileError,
  NetworkError,
  NotFoundError,
  RateLimitExceededError,
  RevokedApiKeyError,
  TimeoutError,
  UnknownPixelError,
} from "../../client/src/leadfile.ts";
import { SpanError } from "./summarize-leads.ts";

/** How long a tool may take: clients of MCP give up after a minute. */
export const answerMs = 50_000;

/** Whom a model can tell its user to turn to. */
const starter = "whoever started this program";
/** For those who write addresses by hand: here it would be encoded twice. */
const encodingHint = / \(a \+ in the offset is sent as %2B\)/;

interface Answer {
  // The protocol's own shape is open.
  [name: string]: unknown;
  content: { type: "text"; text: string }[];
  isError?: true;
}

/** Runs a tool to its end, or to the end of its time. */
export async function answer(work: (signal: AbortSignal) => Promise<unknown>, cancel: AbortSignal): Promise<Answer> {
  const late = AbortSignal.timeout(answerMs);
  try {
    const result = await work(AbortSignal.any([cancel, late]));
    return { content: [{ type: "text", text: JSON.stringify(result) }] };
  } catch (cause) {
    const text = late.aborted ? "No whole answer came in time. Ask for less, or try again later." : sentenceOf(cause);
    return { content: [{ type: "text", text }], isError: true };
  }
}

function sentenceOf(cause: unknown): string {
  if (cause instanceof RateLimitExceededError) {
    const seconds = Math.ceil((cause.retryAfterMs ?? 60_000) / 1000);
    return `The limit of requests per minute is used up (rate_limit_exceeded). Ask again in ${seconds} seconds.`;
  }
  if (cause instanceof RevokedApiKeyError || cause instanceof InvalidApiKeyError) {
    return `${messageOf(cause)} (${cause.code}) Nothing helps but another key: ${starter} sets LEADFILE_KEY to one, and starts it anew.`;
  }
  if (cause instanceof UnknownPixelError) {
    return "The account has no pixel with this pixel_id (unknown_pixel). summarize_leads has the pixels of the leads under by_pixel.";
  }
  if (cause instanceof NotFoundError) {
    return `The API is not at this address (not_found). Nothing helps but the right one: ${starter} checks its URL.`;
  }
  if (cause instanceof ApiError) {
    return `The server refused (${cause.code}): ${messageOf(cause).replace(encodingHint, "")}`;
  }
  if (cause instanceof NetworkError || cause instanceof TimeoutError) {
    return `${messageOf(cause)} Ask again in a minute. If it lasts, ${starter} checks its URL, and that the server runs.`;
  }
  if (cause instanceof LeadfileError) return messageOf(cause);
  return cause instanceof SpanError ? cause.message : "The tool failed, which is a mistake of its own.";
}
