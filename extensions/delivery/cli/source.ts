/** bun admin source: addresses at which vendors deliver leads. A token can only write, and is shown once. */
import { accountOf, checkText } from "../../../src/cli/arguments.ts";
import { AdminCommand, type AnyCommand, type CommandContext, jsonCommand } from "../../../src/cli/command.ts";
import {
  type ImportRequest,
  type ImportSettings,
  prepareReading,
  requestOf,
  settingsOf,
  withReadingOptions,
} from "../../../src/cli/lead/import/options.ts";
import { columnsText, sampleText } from "../../../src/cli/lead/import/preview.ts";
import { refuseUnseen, showOnce } from "../../../src/cli/terminal/output.ts";
import { confirm, readAll } from "../../../src/cli/terminal/prompt.ts";
import { table } from "../../../src/cli/terminal/table.ts";
import { readConfig } from "../../../src/config.ts";
import { createKey, digestOf, prefixOf } from "../../../src/contract/key.ts";
import { formatTime } from "../../../src/contract/time.ts";
import { openPixelReader } from "../../../src/db/pixels.ts";
import {
  createSource,
  findSource,
  listSources,
  revokeSource,
  type Source,
  type SourceSignature,
} from "../../../src/db/sources.ts";
import { asServed, warningLines } from "../../../src/import/map/lead.ts";
import { reportOn } from "../../../src/import/map/report.ts";
import type { NewLead } from "../../../src/import/new-lead.ts";
import { arrivalLine } from "../../../src/import/parse/json.ts";
import { openSource } from "../../../src/import/parse/source.ts";
import { readFile } from "../../../src/import/reading.ts";
import { adminCommand } from "../../../src/runtime/program-name.ts";
import { printable, UserError } from "../../../src/runtime/user-error.ts";
import { receiveOrigin } from "../../../src/server/listen-address.ts";
import { checkSettings } from "../inbox/settings.ts";
import { readVisits } from "../webhooks/body.ts";
import { defaultSignatureHeader } from "../webhooks/signature.ts";

type CreateOptions = Omit<ImportRequest, "onDuplicate"> & {
  readonly label?: string;
  readonly secret?: string;
  readonly signatureHeader?: string;
};

/** The maximum number of characters before the equals sign of a form. */
const maxFormStart = 1000;

export function sourceCommand(context: CommandContext): AnyCommand {
  return new AdminCommand("source", ["source create acme --label rb2b --pixel px_shop", "source list acme"])
    .addCommand(createCommand(context))
    .addCommand(listCommand(context))
    .addCommand(revokeCommand(context))
    .addCommand(testCommand(context));
}

function createCommand(context: CommandContext): AnyCommand {
  const command = jsonCommand("create", [
    "source create acme --label rb2b --pixel px_shop",
    "source create acme --secret - < secret.txt",
    'source create acme --map "Site=pixel_id" --create-pixels',
  ])
    .description("create the webhook URL of a vendor, and print it once")
    .argument("<ACCOUNT>", "ID or exact name")
    .option("--label <TEXT>", "whose deliveries these are, such as rb2b")
    .option("--secret <SECRET>", "accept only deliveries that are signed with it; - reads it from standard input")
    .option(
      "--signature-header <NAME>",
      `the header with the HMAC-SHA256 of the body (default: ${defaultSignatureHeader})`,
    );
  return withReadingOptions(command, "arrival")
    .addHelpText(
      "after",
      `
With --secret, a delivery has the HMAC-SHA256 of its body in the header of
--signature-header, in hex or base64, or is signed as Standard Webhooks.`,
    )
    .action((idOrName, options) => create(context, idOrName, options, settingsOf(command)));
}

async function create(
  context: CommandContext,
  idOrName: string,
  options: CreateOptions,
  settings: ImportSettings,
): Promise<void> {
  const account = accountOf(context, idOrName);
  const label = options.label === undefined ? null : checkText("--label", options.label);
  prepareReading(context, account, requestOf(settings));
  const signature = await readSignature(context, options);
  // A token that nobody saw could only be revoked.
  refuseUnseen("address");
  const token = createKey("lfin_");
  const made = { digest: digestOf(token), prefix: prefixOf(token), label, options: settings, signature };
  const source = await createSource(context.database(), account, made, context.now());
  const url = `${receiveOrigin(readConfig())}/in/${token}`;
  const revoke = `${adminCommand} source revoke ${source.id}`;
  showOnce(context.output, "address", revoke, { ...view(source), url, token }, url);
  context.output.say(
    "Enter this URL at the vendor; it is not shown again. Anybody who has it can deliver leads, but read none.",
  );
  if (options.pixel === undefined) context.output.say(withoutPixelText(options, source.id));
}

/** Returns how deliveries are signed; null if they are not. Throws a UserError that names the option that is wrong. */
async function readSignature(
  context: CommandContext,
  { secret: typed, signatureHeader: header = defaultSignatureHeader }: CreateOptions,
): Promise<SourceSignature | null> {
  if (typed === undefined) {
    if (header === defaultSignatureHeader) return null;
    throw new UserError("--signature-header needs --secret.", "Pass the secret that the vendor shows.", 2);
  }
  const secret = (typed === "-" ? await readAll(context.standardInput(), "the secret") : typed).trim();
  if (secret === "") throw new UserError("--secret is empty.", "Pass the secret that the vendor shows.", 2);
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(header)) {
    const what = `--signature-header is ${JSON.stringify(header)}, which is not a header name.`;
    throw new UserError(what, "Pass a name such as X-Signature.", 2);
  }
  if (typed !== "-") {
    context.output.say("Other users of this machine can see the arguments of a command. To avoid that, use --secret -");
  }
  return { secret, header };
}

/** Says what happens to payloads that name no pixel, or one that the account does not have. */
function withoutPixelText({ createPixels }: CreateOptions, id: string): string {
  const unknown = createPixels === true ? "" : " or with an unknown pixel";
  return (
    `A payload without a pixel${unknown} is rejected. To accept it, create the source with --pixel ID --create-pixels. ` +
    `To test a payload, run: ${adminCommand} source test ${id} < payload.json`
  );
}

function listCommand(context: CommandContext): AnyCommand {
  return jsonCommand("list", ["source list acme", "source list acme --json"])
    .description("list the sources of an account")
    .argument("<ACCOUNT>", "ID or exact name")
    .action((idOrName) => {
      const { number } = accountOf(context, idOrName);
      const all = listSources(context.database().read, number).map(view);
      const rows = all.map((one) => [one.id, one.prefix, one.state, one.created_at.slice(0, 10), one.label ?? ""]);
      const text = table(["ID", "TOKEN", "STATE", "MADE", "LABEL"], rows, "The account has no sources.");
      context.output.result(all, text);
    });
}

function revokeCommand(context: CommandContext): AnyCommand {
  return jsonCommand("revoke", ["source revoke src_4hT2wQ", "source revoke src_4hT2wQ --yes"])
    .description("revoke the URL of a source: reject all further deliveries")
    .argument("<ID>", "ID of the source, from source list")
    .option("--yes", "do not ask for confirmation")
    .action(async (id, options) => {
      const { label, account } = sourceOf(context, id);
      const named = label === null ? `account ${account}` : `"${printable(label)}", account ${account}`;
      await confirm(`Revoke ${printable(id)} (${named})? This cannot be undone.`, options);
      const source = (await revokeSource(context.database(), id, context.now())) ?? sourceOf(context, id);
      context.output.result(view(source), `Source ${source.id} is revoked; the next delivery to it gets 401.`);
    });
}

function testCommand(context: CommandContext): AnyCommand {
  return jsonCommand("test", ["source test src_4hT2wQ < payload.json", "source test src_4hT2wQ --json < payload.json"])
    .description("show the leads that a payload would become, or why it would be rejected; stores nothing")
    .argument("<ID>", "ID of the source, from source list")
    .addHelpText("after", "\nReads the payload from standard input, as the vendor would send it.")
    .action(async (id) => {
      const source = sourceOf(context, id);
      const { leads, sample, rejected, report, warnings } = await testDelivery(context, source);
      const { columns } = report;
      context.output.say(columnsText(report));
      const rows = rejected.map(({ line, reason }) => `Visit ${line} would be rejected: ${printable(reason)}.`);
      const shown = leads.length === 0 ? [] : [sample];
      const text = [...shown, ...rows, ...warnings].join("\n\n");
      context.output.result({ leads, rejected, columns, warnings }, text);
    });
}

/** Reads a payload as `receive` does. Throws a DeliveryRefused with the response of `receive`. */
async function testDelivery(context: CommandContext, source: Source) {
  const account = accountOf(context, source.account);
  const request = { ...requestOf(checkSettings(source.options, "The source")), mode: "delivery" as const };
  const body = Buffer.concat(await Array.fromAsync(context.standardInput()));
  // A payload on standard input has no content type.
  const { json } = readVisits(body, null, /^[^{[]*=/.test(body.toString("utf8", 0, maxFormStart)));
  const { columns, rules } = prepareReading(context, account, request);
  const staged: NewLead[] = [];
  const rejected: { line: number; reason: string }[] = [];
  const pixels = openPixelReader(context.database().read);
  const { notes } = await readFile({
    source: openSource("-", () => new Blob([arrivalLine(context.now(), json)]).stream()),
    columns,
    rules,
    options: request,
    retainDays: account.retainDays,
    staged: {
      add: (lead) => void staged.push(lead),
      // All visits of a delivery are one line.
      reject: ({ reason }) => void rejected.push({ line: staged.length + rejected.length + 1, reason }),
      isStored: () => false,
      hasPixel: (id) => pixels.has(account.number, id),
    },
    now: context.now,
  });
  const leads = staged.map((lead) => asServed(lead, context.now()));
  const shown = staged.slice(0, 3).map((one) => ({ lead: asServed(one, context.now()), origin: one.origin ?? [] }));
  const sample = sampleText(shown, columns);
  return { leads, sample, rejected, report: reportOn(columns, request.stamp), warnings: warningLines(notes.warnings) };
}

function sourceOf(context: CommandContext, id: string): Source {
  const source = findSource(context.database().read, id);
  if (source !== null) return source;
  const advice = `To list the IDs, run: ${adminCommand} source list ACCOUNT`;
  throw new UserError(`No source has the ID ${JSON.stringify(id)}.`, advice);
}

/** A source as the list shows it, without its token and its secret. */
function view({ id, account, prefix, label, options, signature, createdMs, revokedMs }: Source) {
  return {
    id,
    account,
    prefix,
    label,
    state: revokedMs === null ? "active" : "revoked",
    options,
    signature_header: signature?.header ?? null,
    created_at: formatTime(createdMs),
    revoked_at: revokedMs === null ? null : formatTime(revokedMs),
  };
}
