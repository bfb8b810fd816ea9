/** An import without anybody who could be asked: a file of an inbox, or what vendors have delivered. */

import { dirname, join } from "node:path";
import type { Destination } from "../../../../extensions/delivery/inbox/inbox.ts";
import { type Outcome, rejectedFolder } from "../../../../extensions/delivery/inbox/put-away.ts";
import type { ImportSettings } from "../../../../extensions/delivery/inbox/settings.ts";
import { DatabaseUnavailable } from "../../../db/connection.ts";
import { readMapping } from "../../../import/map/mapping.ts";
import { type ImportCounts, ImportInterrupted } from "../../../import/new-lead.ts";
import { RejectsNotWritten } from "../../../import/parse/rejects.ts";
import { explain } from "../../../operator/explain.ts";
import { StoreError } from "../../../store/errors.ts";
import { inOneLine, UserError } from "../../../user-error.ts";
import { accountOf } from "../../arguments.ts";
import type { CommandContext } from "../../command.ts";
import { grouped, leadsText } from "../../terminal/numbers.ts";
import type { Output } from "../../terminal/output.ts";
import { importFile } from "./import-file.ts";
import { goOn } from "./interruption.ts";
import { checkPixel, type ImportRequest, readRules } from "./options.ts";
import { passedText } from "./report.ts";

/** Nobody reads along; what became of the file is said once. */
const silent: Output = { json: false, result: () => true, say: () => undefined };

/** Where files go that are read with some options; a fault where those are wrong, whatever the file. */
export function destinationWith(
  context: CommandContext,
  account: string,
  settings: ImportSettings | { readonly fault: string },
): Destination | { readonly fault: string } {
  if ("fault" in settings) return settings;
  try {
    const request = requestOf(settings, "");
    const found = accountOf(context, account);
    readMapping(request.map ?? null);
    readRules(found.id, request);
    checkPixel(context, found, request);
    return { account, settings };
  } catch (cause) {
    if (!(cause instanceof UserError)) throw cause;
    // Once they are mended, the files are read as their owner wants.
    return { fault: `the options of its import are wrong, and its files wait: ${cause.sentence}` };
  }
}

/** Imports a file and says what became of it; throws only what is a mistake of ours. */
export async function importUnattended(
  context: CommandContext,
  { account, settings }: Destination,
  file: string,
  rejects: string,
  { ofDeliveries }: { readonly ofDeliveries: boolean },
): Promise<Outcome> {
  const request = {
    ...requestOf(settings, rejects),
    rejectsKept: join(dirname(file), rejectedFolder),
    ofDeliveries,
    followsNoLink: true,
  };
  try {
    const { counts, passed, remarks } = await importFile(context, {
      idOrName: account,
      file,
      request,
      output: silent,
      // Told to end, an inbox ends after this file.
      interruption: goOn,
    });
    return {
      kind: "done",
      rejected: counts.rejected,
      remarks: [broughtText(counts), ...passed.map(passedText), ...remarks],
    };
  } catch (cause) {
    const said = explain(cause);
    if (!(said instanceof UserError)) throw cause;
    // What the store or the disk cannot do has nothing to do with the file.
    const otherCauses = [StoreError, DatabaseUnavailable, ImportInterrupted, RejectsNotWritten];
    const isOfFile = !otherCauses.some((kind) => cause instanceof kind);
    if (!isOfFile) return { kind: "later", reason: said.sentence };
    return { kind: "failed", reason: inOneLine(said.message), advice: inOneLine(said.advice) };
  }
}

/** What became of the rows that were not rejected: whoever sees that none was added asks why. */
function broughtText({ imported, replaced, duplicates, suppressed }: ImportCounts): string {
  const others: readonly (readonly [number, string])[] = [
    [replaced, "replaced"],
    [duplicates, "there already"],
    [suppressed, "of erased people left out"],
  ];
  const named = others.filter(([count]) => count > 0).map(([count, what]) => `${grouped(count)} ${what}`);
  return [`${leadsText(imported)} added`, ...named].join(", ");
}

function requestOf(settings: ImportSettings, rejects: string): ImportRequest {
  const {
    "on-duplicate": onDuplicate,
    "create-pixels": createPixels,
    "day-first": dayFirst,
    "month-first": monthFirst,
    ...rest
  } = settings;
  return {
    stamp: "source",
    timezone: "UTC",
    ...rest,
    rejects,
    onDuplicate: onDuplicate ?? "skip",
    createPixels: createPixels === true,
    dayFirst: dayFirst === true,
    monthFirst: monthFirst === true,
  };
}
