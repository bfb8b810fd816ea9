/** The import of the model: every rule of an import in its plainest form. */
import type { ImportOptions, ImportOutcome, NewLead } from "../../src/import/new-lead.ts";
import type { LeadImport } from "../support/admin-store.ts";

export interface Row extends NewLead {
  readonly account: number;
  readonly at: number;
}

interface ModelImport {
  /** Those of all accounts; what is imported is added to them. */
  readonly rows: Row[];
  readonly account: number;
  readonly options: ImportOptions;
  readonly hasPixel: (id: string) => boolean;
  readonly createPixel: (id: string) => void;
}

export function beginModelImport({ rows, account, options, hasPixel, createPixel }: ModelImport): LeadImport {
  const mine = () => rows.filter((row) => row.account === account);
  const newest = () => Math.max(...mine().map((row) => row.at));
  const newestAtBegin = newest();

  function writeOne(lead: NewLead, nowMs: number): ImportOutcome {
    const existing = mine().find((row) => row.id === lead.id);
    const mayReplace = options.onDuplicate === "replace" && existing?.pixelId === lead.pixelId;
    if (existing !== undefined && !mayReplace) return { kind: "duplicate" };
    if (options.createPixels) createPixel(lead.pixelId);
    else if (!hasPixel(lead.pixelId)) return { kind: "rejected" };
    if (existing === undefined) return place(lead, lead.identifiedMs ?? Math.max(nowMs, newest() + 1));
    rows[rows.indexOf(existing)] = { ...lead, account, at: existing.at };
    return { kind: "replaced", ofOther: false };
  }

  function place(lead: NewLead, wanted: number): ImportOutcome {
    const taken = new Set(mine().map((row) => row.at));
    let at = wanted;
    while (taken.has(at)) at++;
    rows.push({ ...lead, account, at });
    return { kind: "imported", atMs: at, moved: lead.identifiedMs !== null && at !== wanted, late: at < newestAtBegin };
  }

  return { write: (leads, nowMs) => leads.map((lead) => writeOne(lead, nowMs)) };
}
