/** A response of the server under test, and the shapes of §2 as the specification states them. */

import { leadFields } from "./specification.ts";
import { need } from "./verdict.ts";

/** One answer of the server under test. */
export interface Answer {
  /** The request, for the report: a method and a target, never a key. */
  readonly asked: string;
  readonly status: number;
  readonly headers: Headers;
  /** Undefined if it is not JSON. */
  readonly body: unknown;
}

export type Item = Readonly<Record<string, unknown>>;

export interface LeadPage {
  readonly data: readonly Item[];
  readonly hasMore: boolean;
  readonly nextCursor: string | null;
}

const dateTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/i;
const formats: Readonly<Record<string, RegExp>> = {
  id: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  identified_at: dateTime,
  pixel_id: /./s,
  phone: /^[0-9]+$/,
  state: /^[A-Z]{2}$/,
};
const required = new Set(["id", "identified_at", "pixel_id"]);

export function isRecord(value: unknown): value is Item {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The list envelope of GET /leads (§2.1); fails with what is wrong in it. */
export function envelope({ asked, body }: Answer): LeadPage {
  need(isRecord(body), `${asked} gave no JSON object`);
  const { object, data, has_more, next_cursor } = body;
  need(object === "list", `object is ${shown(object)} and not "list"`);
  need(Array.isArray(data) && data.every(isRecord), "data is not an array of objects");
  need(typeof has_more === "boolean", `has_more is ${shown(has_more)} and no boolean`);
  const isCursor = typeof next_cursor === "string" && dateTime.test(next_cursor);
  need(isCursor || !has_more, `has_more is true, and next_cursor is ${shown(next_cursor)} and no ISO 8601 timestamp`);
  need(!has_more || data.length > 0, "has_more is true on a page without leads");
  return { data, hasMore: has_more, nextCursor: isCursor ? next_cursor : null };
}

/** Returns what is wrong with a lead (§2.2), or null. It names types and no values, which are personal data. */
export function faultOfLead(lead: Item): string | null {
  const names = Object.keys(lead);
  const missing = leadFields.filter((field) => !names.includes(field));
  if (missing.length > 0) return `a lead lacks ${missing.join(", ")}`;
  const more = names.filter((name) => !leadFields.some((field) => field === name));
  if (more.length > 0) return `a lead has ${more.join(", ")}, which the specification does not know`;
  if (names.join() !== leadFields.join()) return "the fields of a lead are not in the order of the table";
  const wrong = leadFields.find((field) => !isValue(field, lead[field]));
  return wrong === undefined ? null : `${wrong} of a lead is not as the table says (${typeof lead[wrong]})`;
}

function isValue(field: string, value: unknown): boolean {
  if (value === null) return !required.has(field);
  return typeof value === "string" && (formats[field]?.test(value) ?? true);
}

/** Returns what is wrong with the body of an error (§2.5) apart from its code, or null. */
export function faultOfError(body: unknown): string | null {
  if (!isRecord(body) || !isRecord(body["error"])) return "the body is no object with error in it";
  const { code, message, docs } = body["error"];
  if (typeof code !== "string") return `error.code is ${shown(code)}`;
  if (typeof message !== "string" || message === "") return `error.message is ${shown(message)}`;
  return typeof docs === "string" && URL.canParse(docs) ? null : `error.docs is ${shown(docs)} and no URL`;
}

/** Fails unless a response has this status and code, such as "404 not_found", and the body of an error. */
export function needError({ asked, status, body }: Answer, wanted: string): void {
  const got = `${status} ${codeOf(body)}`;
  need(got === wanted, `${asked} answered ${got}`);
  const fault = faultOfError(body);
  need(fault === null, `${asked}: ${fault}`);
}

/** The code of an error's body, or null. */
export function codeOf(body: unknown): string | null {
  const error = isRecord(body) ? body["error"] : null;
  return isRecord(error) && typeof error["code"] === "string" ? error["code"] : null;
}

/** Returns the timestamp of a lead in Unix milliseconds. */
export function momentOf(lead: Item | undefined): number {
  return Date.parse(String(lead?.["identified_at"]));
}

/** A value as JSON, short. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "missing";
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
