/**
 * Maps rows of a large table in a second thread, while the main thread parses the next rows and stages leads. Mapping takes
 * most of the time of reading. The thread is optional: the main thread maps every row that the thread leaves or fails to map.
 */
import { availableParallelism } from "node:os";
import type { Columns } from "./map/columns.ts";
import type { KeptLead, LeadRules } from "./map/lead.ts";
import type { DateOrder } from "./map/values/times.ts";
import type { Groups } from "./parse/json.ts";
import type { ReadRow, Row } from "./row.ts";

/** The settings with which the thread reads the rows of a table. */
export interface Table {
  readonly header: readonly string[];
  /** The text of --map, and the name of --vendor. */
  readonly mapping: string | null;
  readonly vendor: string | null;
  /** The order of dates that the options give. */
  readonly dateOrder: DateOrder | null;
  readonly rules: Omit<LeadRules, "orders">;
}

/** Rows for the thread: all of their cells, separated by NUL, because one long text is passed faster than many short ones. */
export interface Rows {
  readonly texts: string;
  readonly nowMs: number;
}

/** A lead that the thread has read, and the columns whose order of dates has to be decided. */
export interface MappedLead extends KeptLead {
  readonly dated: readonly string[];
}

/** Rows of a source, and the leads that the thread read from some of them. */
export interface MappedRows {
  readonly rows: readonly ReadRow[];
  readonly leads?: ReadonlyMap<ReadRow, MappedLead> | undefined;
}

/** The columns of a table, and the rules by which its rows are read. */
interface Mapping {
  readonly columns: Columns;
  readonly rules: LeadRules;
  readonly now: () => number;
}

/** Starting a thread takes as long as mapping this many rows. */
const minRows = 10_000;
/** The part of each group that the main thread maps. The main thread also parses and stages all rows. */
const ownShare = 0.15;

/** Yields all rows of a table in their order, some of them with their leads. */
export async function* mapInTwoThreads(groups: Groups, mapping: Mapping, after = minRows): AsyncGenerator<MappedRows> {
  let read = 0;
  let thread: ReturnType<typeof startThread> | null = null;
  let asked: { readonly rows: readonly ReadRow[]; readonly leads: ReturnType<typeof askThread> } | null = null;
  try {
    for await (const rows of groups) {
      // While this group was parsed, the thread mapped rows of the previous group.
      if (asked !== null) yield { rows: asked.rows, leads: await asked.leads };
      asked = null;
      if (thread === null && read > after && availableParallelism() > 1) thread = startThread(mapping);
      read += rows.length;
      const own = thread?.isReady() === true ? Math.ceil(rows.length * ownShare) : rows.length;
      const others = rows.slice(own);
      if (thread !== null && others.length > 0)
        asked = { rows: others, leads: askThread(thread, others, mapping.now()) };
      yield { rows: rows.slice(0, own) };
    }
    if (asked !== null) yield { rows: asked.rows, leads: await asked.leads };
  } finally {
    thread?.end();
  }
}

function startThread({ columns, rules: { orders, ...rules } }: Mapping) {
  const worker = new Worker(new URL("./mapping-worker.ts", import.meta.url));
  let isReady = false;
  let answer: (text: string | null) => void = () => {};
  worker.onmessage = ({ data }: MessageEvent<string>) => {
    if (isReady) answer(data);
    isReady = true;
  };
  const end = () => {
    isReady = false;
    worker.terminate();
    answer(null);
  };
  worker.onerror = (event) => {
    event.preventDefault();
    end();
  };
  const header = columns.all.map(({ title }) => title);
  const options = { mapping: columns.mapping.text, vendor: columns.chosenVendor, dateOrder: orders.given };
  worker.postMessage({ header, ...options, rules } satisfies Table);
  return {
    isReady: () => isReady,
    /** Returns the answer of the thread; null if it has none. */
    ask(rows: Rows): Promise<string | null> {
      const { promise, resolve } = Promise.withResolvers<string | null>();
      answer = resolve;
      worker.postMessage(rows);
      return promise;
    },
    end,
  };
}

/**
 * Returns the leads that the thread reads from rows. Ends the thread if it can read none, for example because the order of
 * dates is not decided.
 */
async function askThread(thread: ReturnType<typeof startThread>, rows: readonly ReadRow[], nowMs: number) {
  // A row with a NUL was rejected earlier.
  const whole = rows.filter((row): row is Row => !("reason" in row));
  if (whole.length === 0) return;
  const answer = await thread.ask({ texts: whole.map(({ cells }) => cells.join("\0")).join("\0"), nowMs });
  const texts = answer?.split("\0") ?? [];
  // The texts are those that the thread wrote.
  const found: (MappedLead | null)[] = JSON.parse(texts.pop() ?? "[]");
  const leads = new Map<ReadRow, MappedLead>();
  for (const [index, row] of whole.entries()) {
    const [one, document] = [found[index], texts[index]];
    if (one != null && document !== undefined) leads.set(row, { ...one, lead: { ...one.lead, document } });
  }
  if (leads.size === 0) thread.end();
  return leads;
}
