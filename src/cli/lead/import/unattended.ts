/** An import without anybody who could be asked: a file of an inbox, or what vendors have delivered. */

import type { Outcome } from "../../../inbox/drop-folder.ts";
import type { Destination } from "../../../inbox/inbox.ts";
import type { ImportSettings } from "../../../inbox/settings.ts";
import { RejectsNotWritten } from "../../../ingest/file/rejects.ts";
import { explain } from "../../../operator/explain.ts";
import { UserError } from "../../../operator/user-error.ts";
import { StoreError } from "../../../store/errors.ts";
import type { CommandContext } from "../../command.ts";
import type { Output } from "../../terminal/output.ts";
import { importFile } from "./import-file.ts";
import { goOn } from "./interruption.ts";
import type { ImportRequest } from "./options.ts";

/** Nobody reads along; what became of the file is said once. */
const silent: Output = { json: false, result: () => true, say: () => undefined };

/** Imports a file and says what became of it; throws only what is a mistake of ours. */
export async function importUnattended(
  context: CommandContext,
  { account, settings }: Destination,
  file: string,
  rejects: string,
  { mayHaveWrongTime }: { readonly mayHaveWrongTime: boolean },
): Promise<Outcome> {
  const request = { ...requestOf(settings, rejects), mayHaveWrongTime };
  try {
    const { counts } = await importFile(context, {
      idOrName: account,
      file,
      request,
      output: silent,
      // Told to end, an inbox ends after this file.
      interruption: goOn,
    });
    return { kind: "done", rejected: counts.rejected };
  } catch (cause) {
    const said = explain(cause);
    if (!(said instanceof UserError)) throw cause;
    // What the store or the disk cannot do has nothing to do with the file.
    const isOfFile = !(cause instanceof StoreError || cause instanceof RejectsNotWritten);
    return { kind: isOfFile ? "failed" : "later", reason: said.sentence };
  }
}

function requestOf(settings: ImportSettings, rejects: string): ImportRequest {
  const { "on-duplicate": onDuplicate, "create-pixels": createPixels, "day-first": dayFirst, ...rest } = settings;
  return {
    stamp: "source",
    timezone: "UTC",
    ...rest,
    rejects,
    onDuplicate: onDuplicate ?? "skip",
    createPixels: createPixels === true,
    dayFirst: dayFirst === true,
  };
}
