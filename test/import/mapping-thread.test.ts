/**
 * The second thread returns the leads that the main thread would read from the same rows, and leaves the rows that depend on
 * others to it.
 */
import { expect, test } from "bun:test";
import { Columns } from "../../src/import/map/columns.ts";
import { readLead } from "../../src/import/map/lead.ts";
import { readMapping } from "../../src/import/map/mapping.ts";
import { DateOrders } from "../../src/import/map/visit-time.ts";
import { mapInTwoThreads } from "../../src/import/mapping-thread.ts";
import { readCsv } from "../../src/import/parse/csv.ts";
import type { ReadRow } from "../../src/import/row.ts";
import { noonMs } from "../support/builders.ts";
import { ordinaryRules } from "./reading.ts";

const header = "Seen,Email,First Name,Last Name,Phone,State,page,id,pixel_id";
const times = ["2026-01-30T10:00:00Z", "2026-01-30 10:00", "Jan 30 2026", "", "yesterday"];
/** Dates that decide the order of the other rows of their column, or whose order another row decides. */
const openTimes = ["01/02/2026", "30/01/2026"];
const others = [
  'dana@example.com,Dana,"Reeve, Jr.",619-555-0142,NV,/pricing,,px_a',
  "d@example.com; e@example.com,,Reeve,,Nevada,https://www.example.com/,7,px_a",
  "no address,Ann,,12,Bavaria,,cfcd2084-95d5-45ef-a6e7-dff9f98764da,",
  ",,,,,,,px_a",
  "too,few",
  'f@example.com,"Two\nlines",,,,,🎉,px b',
];

/** Yields the table again and again, with pauses, until `isEnough`. */
async function* repeated(rows: readonly string[], isEnough: () => boolean): AsyncGenerator<string> {
  yield `${header}\n`;
  for (let times = 0; times < 500 && !isEnough(); times++) {
    yield rows.map((row) => `${row}\n`).join("");
    await Bun.sleep(10);
  }
}

async function readInTwoThreads(rows: readonly string[], orders: DateOrders, map: string | null = null) {
  const columns = new Columns(readMapping(map));
  const rules = { ...ordinaryRules, pixelId: null, orders };
  const read: ReadRow[] = [];
  const found = new Map<ReadRow, unknown>();
  const texts = repeated(rows, () => found.size > 200);
  for await (const part of mapInTwoThreads(readCsv(texts, columns, ",", 1), { columns, rules, now: () => noonMs }, 0)) {
    read.push(...part.rows);
    for (const [row, { dated: _, ...lead }] of part.leads ?? []) found.set(row, lead);
  }
  return { read, found, columns, rules };
}

test.each([[null], ["Phone=-,page=referrer"]])(
  "gives the leads that the main thread reads, with --map %p",
  async (map) => {
    const rows = times.flatMap((time) => others.map((other) => `${time},${other}`));
    const { read, found, rules } = await readInTwoThreads(rows, new DateOrders(null), map);
    expect(found.size).toBeGreaterThan(200);
    for (const [row, lead] of found)
      expect("reason" in row ? row : readLead(row, rules, noonMs)).toEqual(lead as never);
    // All rows are there, in their order.
    const alone: ReadRow[] = [];
    const again = readCsv(
      repeated(rows, () => alone.length >= read.length),
      new Columns(readMapping(map)),
      ",",
      1,
    );
    for await (const group of again) alone.push(...group);
    expect(alone.slice(0, read.length).map(({ line, source }) => [line, source])).toEqual(
      read.map(({ line, source }) => [line, source]),
    );
    // Rows that are not leads are left to the main thread.
    for (const row of read.slice(-rows.length)) {
      const isLead = !("reason" in row) && "lead" in readLead(row, rules, noonMs);
      if (found.has(row)) expect(isLead).toBe(true);
    }
  },
);

test("leaves a date to the main thread if it decides the order of a column, or needs it", async () => {
  const rows = [...times, ...openTimes].map((time) => `${time},${others[0]}`);
  const { found } = await readInTwoThreads(rows, new DateOrders(null));
  expect(found.size).toBeGreaterThan(200);
  for (const row of found.keys()) expect(openTimes).not.toContain("cells" in row ? (row.cells[0] as string) : "");
});

test("leaves all rows to the main thread if the second one ends", async () => {
  const OwnWorker = globalThis.Worker;
  const script = `postMessage("ready"); onmessage = ({ data }) => { if ("texts" in data) throw new Error("no memory"); };`;
  const asked: unknown[] = [];
  globalThis.Worker = function endingThread() {
    const thread = new OwnWorker(URL.createObjectURL(new Blob([script], { type: "application/javascript" })));
    thread.addEventListener("error", (event) => asked.push(event));
    return thread;
  } as unknown as typeof Worker;
  try {
    let parts = 0;
    const columns = new Columns(readMapping(null));
    const rules = { ...ordinaryRules, orders: new DateOrders(null) };
    const texts = repeated(Array(10).fill(`2026-01-30T10:00:00Z,${others[0]}`), () => parts > 40 && asked.length > 0);
    for await (const { rows, leads } of mapInTwoThreads(
      readCsv(texts, columns, ",", 1),
      { columns, rules, now: () => noonMs },
      0,
    )) {
      if (rows.length > 0) parts++;
      expect(leads?.size ?? 0).toBe(0);
    }
    expect(asked).toHaveLength(1);
  } finally {
    globalThis.Worker = OwnWorker;
  }
});

test("reads dates of an order that was given", async () => {
  const rows = openTimes.map((time) => `${time},${others[0]}`);
  const { found, rules } = await readInTwoThreads(rows, new DateOrders("day first"));
  expect(found.size).toBeGreaterThan(200);
  for (const [row, lead] of found) expect("reason" in row ? row : readLead(row, rules, noonMs)).toEqual(lead as never);
});
