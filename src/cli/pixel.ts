/** bun admin pixel: the pixels of an account (§2.3). */
import { Command } from "commander";
import { randomText } from "../contract/key.ts";
import type { Pixel } from "../contract/pixel.ts";
import type { Account } from "../db/accounts.ts";
import { createPixel, listPixels, setPixelStatus } from "../db/pixels.ts";
import { adminCommand } from "../program-name.ts";
import { UserError } from "../user-error.ts";
import { accountOf, checkPixelId, checkText } from "./arguments.ts";
import { type CommandContext, examples, jsonCommand, outputOf } from "./command.ts";
import { table } from "./terminal/table.ts";

export function pixelCommand(context: CommandContext): Command {
  return new Command("pixel")
    .addHelpText(
      "after",
      examples("pixel create acme --id px_shop", "pixel list acme", "pixel set-status acme px_shop paused"),
    )
    .addCommand(createCommand(context))
    .addCommand(listCommand(context))
    .addCommand(setStatusCommand(context));
}

function createCommand(context: CommandContext): Command {
  return jsonCommand("create")
    .description("create a pixel, and print its ID")
    .argument("<ACCOUNT>", "ID or exact name")
    .option("--id <ID>", "the ID that the vendor gave it; generated if not given")
    .option("--status <STATUS>", "the status that the API shows", "active")
    .addHelpText("after", examples("pixel create acme", "pixel create acme --id px_shop --status active"))
    .action(async (idOrName: string, options: { id?: string; status: string; json?: boolean }) => {
      const account = accountOf(context, idOrName);
      const id = options.id === undefined ? `px_${randomText(12)}` : checkPixelId("--id", options.id);
      const pixel = { id, status: checkText("--status", options.status) };
      if (!(await createPixel(context.database(), account.number, pixel, context.now()))) {
        throw new UserError(
          `${account.name} already has a pixel ${JSON.stringify(id)}.`,
          `To list its pixels, run: ${adminCommand} pixel list ${account.id}`,
        );
      }
      outputOf(options).result(view(account, pixel), id);
    });
}

function listCommand(context: CommandContext): Command {
  return jsonCommand("list")
    .description("list the pixels of an account")
    .argument("<ACCOUNT>", "ID or exact name")
    .addHelpText("after", examples("pixel list acme", "pixel list acme --json"))
    .action((idOrName: string, options) => {
      const account = accountOf(context, idOrName);
      const all = listPixels(context.database().read, account.number).map((pixel) => view(account, pixel));
      const rows = all.map(({ id, status }) => [id, status]);
      outputOf(options).result(all, table(["ID", "STATUS"], rows, "The account has no pixels."));
    });
}

function setStatusCommand(context: CommandContext): Command {
  return jsonCommand("set-status")
    .description("change the status of a pixel")
    .argument("<ACCOUNT>", "ID or exact name")
    .argument("<ID>", "ID of the pixel")
    .argument("<STATUS>", "such as active or paused")
    .addHelpText("after", examples("pixel set-status acme px_shop paused"))
    .action(async (idOrName: string, id: string, text: string, options) => {
      const account = accountOf(context, idOrName);
      const status = checkText("STATUS", text);
      if (!(await setPixelStatus(context.database(), account.number, { id, status }))) {
        throw new UserError(
          `${account.name} has no pixel ${JSON.stringify(id)}.`,
          `To list its pixels, run: ${adminCommand} pixel list ${account.id}`,
        );
      }
      outputOf(options).result(view(account, { id, status }), `The status of pixel ${id} is ${status}.`);
    });
}

function view(account: Account, { id, status }: Pixel) {
  return { id, account: account.id, status };
}
