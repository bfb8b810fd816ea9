/** The thread that maps rows of a table to leads (mapping-thread.ts). It receives and returns texts, and opens no file. */
import { Columns } from "./map/columns.ts";
import { type LeadRules, readLead } from "./map/lead.ts";
import { readMapping } from "./map/mapping.ts";
import { DateOrders, onlyOrderOf } from "./map/visit-time.ts";
import type { MappedLead, Rows, Table } from "./mapping-thread.ts";

declare const self: Worker;

self.onmessage = ({ data: table }: MessageEvent<Table>) => {
  const map = mapper(table);
  self.onmessage = ({ data: rows }: MessageEvent<Rows>) => self.postMessage(map(rows));
  self.postMessage("ready");
};

/**
 * Returns a function that returns the documents of leads, and then all other data of the leads as JSON, with null for a row
 * that it leaves to the main thread.
 */
function mapper({ header, mapping, vendor, dateOrder, rules: others }: Table): (rows: Rows) => string {
  const layout = new Columns(readMapping(mapping), vendor).addHeader(header);
  const rules = { ...others, orders: dateOrder === null ? new NotedOrders() : new DateOrders(dateOrder) };
  return ({ texts, nowMs }) => {
    const cells = texts.split("\0");
    const documents: string[] = [];
    const leads: (MappedLead | null)[] = [];
    for (let at = 0; at < cells.length; at += header.length) {
      const own = cells.slice(at, at + header.length);
      const found = mapRow({ line: 0, cells: own, layout, source: own }, rules, nowMs);
      documents.push(found?.lead.document ?? "");
      leads.push(found && { ...found, lead: { ...found.lead, document: "" } });
    }
    return [...documents, JSON.stringify(leads)].join("\0");
  };
}

/** Returns null for a row that is not a lead, or whose date matters for other rows: the main thread reads such rows in order. */
function mapRow(row: Parameters<typeof readLead>[0], rules: LeadRules, nowMs: number): MappedLead | null {
  const { orders } = rules;
  if (!(orders instanceof NotedOrders)) return keptOrNull(readLead(row, rules, nowMs), []);
  orders.begin();
  const found = keptOrNull(readLead(row, rules, nowMs), orders.asked);
  return orders.hasEvidence ? null : found;
}

function keptOrNull(found: ReturnType<typeof readLead>, dated: readonly string[]): MappedLead | null {
  return "lead" in found ? { ...found, dated } : null;
}

/**
 * Records the columns whose order of dates a row needs, and whether a date of the row has only one possible order. It decides
 * no order.
 */
class NotedOrders extends DateOrders {
  asked: string[] = [];
  hasEvidence = false;

  constructor() {
    super(null);
  }

  begin(): void {
    this.asked = [];
    this.hasEvidence = false;
  }

  override note(_column: string, text: string): void {
    this.hasEvidence ||= onlyOrderOf(text) !== null;
  }

  override use(column: string): null {
    this.asked.push(column);
    return null;
  }
}
