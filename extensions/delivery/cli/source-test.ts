/** bun admin source test: shows the leads that a delivery would become, and stores nothing. */
import type { Command } from "commander";
import { type CommandContext, examples, jsonCommand, outputOf } from "../../../src/cli/command.ts";
import { readRules } from "../../../src/cli/lead/import/options.ts";
import { sampleText } from "../../../src/cli/lead/import/sample.ts";
import { findAccount } from "../../../src/db/accounts.ts";
import { openPixelReader } from "../../../src/db/pixels.ts";
import { findSource, type Source } from "../../../src/db/sources.ts";
import { Columns } from "../../../src/import/map/columns.ts";
import { asServed, warningLines } from "../../../src/import/map/lead.ts";
import { readMapping } from "../../../src/import/map/mapping.ts";
import { reportOn } from "../../../src/import/map/report.ts";
import type { NewLead, RejectedRow } from "../../../src/import/new-lead.ts";
import { readFile } from "../../../src/import/reading.ts";
import { adminCommand } from "../../../src/program-name.ts";
import { printable, UserError } from "../../../src/user-error.ts";
import { checkSettings } from "../inbox/settings.ts";
import { readVisits } from "../webhooks/body.ts";
import { DeliveryRefused } from "../webhooks/refusal.ts";
import { requestOf } from "./unattended.ts";

export function testCommand(context: CommandContext): Command {
  return jsonCommand("test")
    .description("show the leads that a payload would become, or why it would be rejected; stores nothing")
    .argument("<ID>", "ID of the source, as source list shows it")
    .addHelpText("after", "\nReads the payload from standard input, as the vendor would send it.")
    .addHelpText(
      "after",
      examples("source test src_4hT2wQ < payload.json", "source test src_4hT2wQ --json < payload.json"),
    )
    .action(async (id: string, options: { json?: boolean }) => {
      const source = findSource(context.database().read, id);
      if (source === null) {
        throw new UserError(
          `No source has the ID ${JSON.stringify(id)}.`,
          `To list the IDs, run: ${adminCommand} source list ACCOUNT`,
        );
      }
      const { leads, rejected, columns, warnings } = await testDelivery(context, source);
      const rows = rejected.map(({ line, reason }) => `Visit ${line} would be rejected: ${printable(reason)}.`);
      const shown = leads.length === 0 ? [] : [sampleText(leads.slice(0, 3), columns)];
      const text = [...shown, ...rows, ...warnings].join("\n\n");
      outputOf(options).result({ leads, rejected, columns, warnings }, text);
    });
}

/** Reads a payload as `receive` does. */
async function testDelivery(context: CommandContext, source: Source) {
  const settings = checkSettings(source.options, "The source");
  if ("fault" in settings) throw new UserError(settings.fault, "Revoke the source, and create another one.");
  const { read } = context.database();
  const account = findAccount(read, source.account);
  if (account === null) throw new UserError("The account of the source does not exist any more.", "");
  const request = { ...requestOf(settings, ""), ofDeliveries: true };
  const lines = visitsIn(await Buffer.concat(await Array.fromAsync(context.standardInput())));
  const columns = new Columns(readMapping(request.map ?? null));
  const staged: NewLead[] = [];
  const rejected: Pick<RejectedRow, "line" | "reason">[] = [];
  const pixels = openPixelReader(read);
  const text = Buffer.from(lines.map((line) => `${line}\n`).join(""));
  const { notes } = await readFile({
    source: { chunks: chunksOf(text), bytesRead: () => text.length, size: text.length },
    columns,
    rules: readRules(account.id, request),
    options: request,
    retainDays: account.retainDays,
    staged: {
      add: (lead) => void staged.push(lead),
      reject: ({ line, reason }) => void rejected.push({ line, reason }),
      isStored: () => false,
      hasPixel: (id) => pixels.has(account.number, id),
    },
    now: context.now,
  });
  const leads = staged.map((lead) => asServed(lead, context.now()));
  return { leads, rejected, columns: reportOn(columns).columns, warnings: warningLines(notes.warnings) };
}

/** Returns the lines of JSON of a payload. Throws a UserError that says what `receive` would answer. */
function visitsIn(payload: Uint8Array): string[] {
  try {
    return readVisits(payload, null);
  } catch (cause) {
    if (!(cause instanceof DeliveryRefused)) throw cause;
    throw new UserError(cause.message, `The delivery would be answered with ${cause.status} ${cause.code}.`);
  }
}

async function* chunksOf(text: Buffer): AsyncGenerator<Buffer> {
  yield text;
}
