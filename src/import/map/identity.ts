/** The IDs of leads: that of the source, or one that is made of what a row says. */
import { createHash } from "node:crypto";
import { type DetailField, detailFields, type LeadDetails } from "../../contract/lead.ts";
import { withHyphens } from "../../db/uuid.ts";
import type { VisitTime } from "./visit-time.ts";

/** A UUID as sources write it, in either case. */
export const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Returns the ID of a lead whose source has one. A UUID is kept in lowercase. Any other text is hashed together with its
 * pixel: two vendors may both count 1, 2, 3. Without a pixel it is the ID that imports of version 0.1.0 made.
 */
export function idFromSource(text: string, pixelId: string | null): string {
  if (uuid.test(text)) return text.toLowerCase();
  return writeUuid(sha256(pixelId === null ? text : JSON.stringify([pixelId, text])));
}

/** A field that tells two rows without an ID apart. */
export type IdentityField = DetailField | "identified_at";

/** All fields: rows that differ in any of them are two leads, unless --identity names fewer. */
export const wholeIdentity: readonly IdentityField[] = ["identified_at", ...detailFields];

/** A row that has no ID. */
interface RowWithoutId extends Pick<VisitTime, "sourceMs" | "wrongTime"> {
  readonly account: string;
  readonly pixelId: string;
  readonly details: LeadDetails;
}

/**
 * Returns the ID of a row that has none, from its account, its pixel, and some of its fields: importing the same file
 * twice changes nothing. A row in which all of those fields are empty is told apart by everything, lest strangers become one.
 */
export function idFromContent(row: RowWithoutId, identity: readonly IdentityField[]): string {
  const { account, pixelId, details, sourceMs, wrongTime } = row;
  const isEmpty = identity.every((field) => (field === "identified_at" ? sourceMs : details[field]) === null);
  if (isEmpty && identity !== wholeIdentity) return idFromContent(row, wholeIdentity);
  const fields = identity.filter((field) => field !== "identified_at");
  const isTimed = identity.includes("identified_at");
  const text = isTimed && wrongTime !== undefined ? [wrongTime] : [];
  const hash = sha256(JSON.stringify([account, pixelId, ...fields.map((field) => details[field]), ...text]));
  // 48 bits of milliseconds in front put new IDs at the end of their index; a time before 1970 does not fit.
  const timed = isTimed ? (sourceMs ?? 0) : 0;
  hash.writeUIntBE(Math.max(0, timed), 0, 6);
  return writeUuid(hash);
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Writes the first 16 bytes as a UUID of version 8 (RFC 9562). */
function writeUuid(bytes: Buffer): string {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return withHyphens(bytes.toString("hex", 0, 16));
}
