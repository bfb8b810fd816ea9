/** What a server would see of the model. */

import { dayOf } from "../../src/contract/calendar.ts";
import type { LeadQuery } from "../../src/contract/parameters.ts";
import { moveDocument } from "../../src/contract/stored-lead.ts";
import { writeMoment } from "../../src/contract/time.ts";
import type { Row } from "./model-import.ts";
import { daysOf, hasPixel, keyWith, type ModelState, pixelsOf } from "./model-state.ts";
import type { StoreUnderTest } from "./store-under-test.ts";

export const documentOf = (row: Row): string => moveDocument(row.document, writeMoment(row.at));

export const newestFirst = (a: Row, b: Row): number => b.at - a.at;

export function servedModel(state: ModelState): StoreUnderTest["served"] {
  return {
    keys: { find: (digest) => findKey(state, digest) },
    pixels: {
      list: (account) => pixelsOf(state, account),
      has: (account, id) => hasPixel(state, account, id),
    },
    leads: { page: (account, query) => pageOf(state, account, query) },
    usage: {
      count: (key, nowMs) => void state.counted.push({ key, day: dayOf(nowMs) }),
      of(key, nowMs) {
        const today = dayOf(nowMs);
        const days = daysOf(state, key);
        return {
          today: days.filter((day) => day === today).length,
          month: days.filter((day) => day.slice(0, 7) === today.slice(0, 7)).length,
        };
      },
    },
    probe: () => {},
    flush: () => "idle",
    isEmpty: () => state.accounts.length === 0,
    close: () => {},
  };
}

function findKey(state: ModelState, digest: Buffer) {
  const key = keyWith(state, digest);
  if (key === undefined) return null;
  return {
    number: key.number,
    account: key.of,
    prefix: key.prefix,
    revokedMs: key.revokedMs,
    expiresMs: key.expiresMs,
    subscribed: state.accounts.some(({ number, active }) => number === key.of && active),
  };
}

function pageOf({ rows }: ModelState, account: number, query: LeadQuery) {
  const { limit, beforeMs, sinceMs, pixelId, state, city, hasEmail } = query;
  const found = rows
    .filter((row) => row.account === account)
    .filter((row) => beforeMs === null || row.at < beforeMs)
    .filter((row) => sinceMs === null || row.at >= sinceMs)
    .filter((row) => pixelId === null || row.pixelId === pixelId)
    .filter((row) => state === null || row.state === state)
    .filter((row) => city === null || row.cityKey === city)
    .filter((row) => !hasEmail || row.hasEmail)
    .toSorted(newestFirst);
  const page = found.slice(0, limit);
  const [newest, oldest] = [page[0], page.at(-1)];
  const reachMs = found.length > limit ? null : sinceMs;
  return {
    span:
      newest === undefined || oldest === undefined
        ? null
        : { oldestMs: reachMs ?? oldest.at, newestMs: newest.at, seen: 0 },
    documents: page.map((lead) => Buffer.from(documentOf(lead))),
    nextMs: found.length > limit ? (oldest?.at ?? null) : null,
  };
}
