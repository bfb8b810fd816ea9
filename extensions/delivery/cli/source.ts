/** bun admin source: addresses at which vendors deliver leads. A token can only write, and is shown once. */
import { Command, Option } from "commander";
import { accountOf, checkText } from "../../../src/cli/arguments.ts";
import { type CommandContext, examples, jsonCommand, outputOf } from "../../../src/cli/command.ts";
import { checkPixel, readRules } from "../../../src/cli/lead/import/options.ts";
import { refuseUnseen, showOnce } from "../../../src/cli/terminal/output.ts";
import { confirm } from "../../../src/cli/terminal/prompt.ts";
import { table } from "../../../src/cli/terminal/table.ts";
import { readConfig, receiveOrigin } from "../../../src/config.ts";
import { createKey, digestOf, prefixOf } from "../../../src/contract/key.ts";
import { writeMoment } from "../../../src/contract/time.ts";
import { createSource, findSource, listSources, revokeSource, type Source } from "../../../src/db/sources.ts";
import { readMapping } from "../../../src/import/map/mapping.ts";
import { adminCommand } from "../../../src/program-name.ts";
import { printable, UserError } from "../../../src/user-error.ts";
import type { ImportSettings } from "../inbox/settings.ts";
import { testCommand } from "./source-test.ts";

interface CreateOptions {
  readonly label?: string;
  readonly map?: string;
  readonly pixel?: string;
  readonly createPixels?: boolean;
  readonly identity?: string;
  readonly stamp: "source" | "arrival";
  readonly timezone: string;
  readonly dayFirst?: boolean;
  readonly monthFirst?: boolean;
  readonly json?: boolean;
}

export function sourceCommand(context: CommandContext): Command {
  return new Command("source")
    .addHelpText("after", examples("source create acme --label rb2b --pixel px_shop", "source list acme"))
    .addCommand(createCommand(context))
    .addCommand(listCommand(context))
    .addCommand(revokeCommand(context))
    .addCommand(testCommand(context));
}

function createCommand(context: CommandContext): Command {
  return jsonCommand("create")
    .description("create an address for a vendor, and print it once")
    .argument("<ACCOUNT>", "id or exact name")
    .option("--label <TEXT>", "whose deliveries these are, such as rb2b")
    .option("--pixel <ID>", "the pixel of visits that name none")
    .option("--create-pixels", "make the pixels that visits name")
    .option("--map <THEIRS=OURS,…>", "say which name is which field; - for one that is not to be kept")
    .option("--identity <FIELDS>", "tell visits without an id apart by these fields alone")
    .addOption(
      new Option("--stamp <WHOSE>", "the time that leads get: that of their arrival, or that of the source")
        .choices(["arrival", "source"])
        .default("arrival"),
    )
    .option("--timezone <ZONE>", "the zone of times without an offset, such as America/New_York", "UTC")
    .addOption(new Option("--day-first", "read 01/02/2026 as the first of February").conflicts("monthFirst"))
    .option("--month-first", "read 01/02/2026 as the second of January")
    .addHelpText(
      "after",
      examples(
        "source create acme --label rb2b --pixel px_shop",
        'source create acme --map "Site=pixel_id" --create-pixels',
      ),
    )
    .action((idOrName: string, options: CreateOptions) => create(context, idOrName, options));
}

async function create(context: CommandContext, idOrName: string, options: CreateOptions): Promise<void> {
  const account = accountOf(context, idOrName);
  const label = options.label === undefined ? null : checkText("--label", options.label);
  const request = { ...options, onDuplicate: "skip" } as const;
  readRules(account.id, request);
  checkPixel(context, account, request);
  readMapping(options.map ?? null);
  // A token that nobody saw could only be revoked.
  refuseUnseen("address");
  const token = createKey("lfin_");
  const made = { digest: digestOf(token), prefix: prefixOf(token), label, options: settingsOf(options) };
  const source = await createSource(context.database(), account, made, context.now());
  const url = `${receiveOrigin(readConfig())}/in/${token}`;
  const output = outputOf(options);
  showOnce(output, "address", `${adminCommand} source revoke ${source.id}`, { ...view(source), url, token }, url);
  output.say(
    "Paste this address at the vendor; it is not shown again. Whoever has it can deliver leads, and read none.",
  );
  if (options.pixel === undefined) output.say(withoutPixelText(options, source.id));
}

/** Says what happens to payloads that name no pixel, or one that the account does not have. */
function withoutPixelText({ createPixels }: CreateOptions, id: string): string {
  const unknown = createPixels === true ? "" : ", or a pixel that the account does not have,";
  return (
    `A payload that names no pixel${unknown} is rejected. To accept it, create the source with --pixel ID --create-pixels. ` +
    `To see what becomes of a payload, run: ${adminCommand} source test ${id} < payload.json`
  );
}

/** The options by the names that import.json has for them. */
function settingsOf({
  label: _,
  json: __,
  createPixels,
  dayFirst,
  monthFirst,
  ...rest
}: CreateOptions): ImportSettings {
  return {
    ...rest,
    ...(createPixels === true ? { "create-pixels": true } : {}),
    ...(dayFirst === true ? { "day-first": true } : {}),
    ...(monthFirst === true ? { "month-first": true } : {}),
  };
}

function listCommand(context: CommandContext): Command {
  return jsonCommand("list")
    .description("list the sources of an account")
    .argument("<ACCOUNT>", "id or exact name")
    .addHelpText("after", examples("source list acme", "source list acme --json"))
    .action((idOrName: string, options) => {
      const { number } = accountOf(context, idOrName);
      const all = listSources(context.database().read, number).map(view);
      const rows = all.map(({ id, prefix, state, created_at, label }) => [
        id,
        prefix,
        state,
        created_at.slice(0, 10),
        label ?? "",
      ]);
      outputOf(options).result(
        all,
        table(["ID", "TOKEN", "STATE", "MADE", "LABEL"], rows, "The account has no sources."),
      );
    });
}

function revokeCommand(context: CommandContext): Command {
  return jsonCommand("revoke")
    .description("reject all further deliveries to the address of a source")
    .argument("<ID>", "id of the source, as source list shows it")
    .option("--yes", "do not ask")
    .addHelpText("after", examples("source revoke src_4hT2wQ", "source revoke src_4hT2wQ --yes"))
    .action(async (id: string, options: { yes?: boolean; json?: boolean }) => {
      const database = context.database();
      const { label, account } = findSource(database.read, id) ?? unknownSource(id);
      const named = label === null ? `account ${account}` : `"${printable(label)}", account ${account}`;
      await confirm(`Revoke ${printable(id)} (${named})? This cannot be undone.`, options);
      const source = (await revokeSource(database, id, context.now())) ?? unknownSource(id);
      outputOf(options).result(view(source), `Source ${source.id} is revoked; the next delivery to it gets 401.`);
    });
}

function unknownSource(id: string): never {
  throw new UserError(
    `No source has the ID ${JSON.stringify(id)}.`,
    `To list the IDs, run: ${adminCommand} source list ACCOUNT`,
  );
}

/** A source as the list shows it, without its token. */
function view({ id, account, prefix, label, options, createdMs, revokedMs }: Source) {
  return {
    id,
    account,
    prefix,
    label,
    state: revokedMs === null ? "active" : "revoked",
    options,
    created_at: writeMoment(createdMs),
    revoked_at: revokedMs === null ? null : writeMoment(revokedMs),
  };
}
