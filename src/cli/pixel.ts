/** bun admin pixel: the pixels of an account (§2.3). */
import { randomText } from "../contract/key.ts";
import type { Pixel } from "../contract/pixel.ts";
import type { Account } from "../db/accounts.ts";
import { createPixel, listPixels, setPixelStatus } from "../db/pixels.ts";
import { adminCommand } from "../runtime/program-name.ts";
import { UserError } from "../runtime/user-error.ts";
import { checkPixelId, checkText, commandOnAccount } from "./arguments.ts";
import { AdminCommand, type AnyCommand, type CommandContext } from "./command.ts";
import { table } from "./terminal/table.ts";

export function pixelCommand(context: CommandContext): AnyCommand {
  return new AdminCommand("pixel", [
    "pixel create acme --id px_shop",
    "pixel list acme",
    "pixel set-status acme px_shop paused",
  ])
    .addCommand(createCommand(context))
    .addCommand(listCommand(context))
    .addCommand(setStatusCommand(context));
}

function createCommand(context: CommandContext): AnyCommand {
  return commandOnAccount(context, "create", ["pixel create acme", "pixel create acme --id px_shop --status active"])
    .description("create a pixel, and print its ID")
    .option("--id <ID>", "the vendor's ID of the pixel (default: generated)")
    .option("--status <STATUS>", "the status that the API shows", "active")
    .action(async (account, options) => {
      const id = options.id === undefined ? `px_${randomText(12)}` : checkPixelId("--id", options.id);
      const pixel = { id, status: checkText("--status", options.status) };
      if (!(await createPixel(context.database(), account.number, pixel, context.now()))) {
        throw new UserError(
          `${account.name} already has a pixel ${JSON.stringify(id)}.`,
          `To list its pixels, run: ${adminCommand} pixel list ${account.id}`,
        );
      }
      context.output.result(view(account, pixel), id);
    });
}

function listCommand(context: CommandContext): AnyCommand {
  return commandOnAccount(context, "list", ["pixel list acme", "pixel list acme --json"])
    .description("list the pixels of an account")
    .action((account) => {
      const all = listPixels(context.database().read, account.number).map((pixel) => view(account, pixel));
      const rows = all.map(({ id, status }) => [id, status]);
      context.output.result(all, table(["ID", "STATUS"], rows, "The account has no pixels."));
    });
}

function setStatusCommand(context: CommandContext): AnyCommand {
  return commandOnAccount(context, "set-status", ["pixel set-status acme px_shop paused"])
    .description("change the status of a pixel")
    .argument("<ID>", "ID of the pixel")
    .argument("<STATUS>", "such as active or paused")
    .action(async (account, id, text) => {
      const status = checkText("STATUS", text);
      if (!(await setPixelStatus(context.database(), account.number, { id, status }))) {
        throw new UserError(
          `${account.name} has no pixel ${JSON.stringify(id)}.`,
          `To list its pixels, run: ${adminCommand} pixel list ${account.id}`,
        );
      }
      context.output.result(view(account, { id, status }), `The status of pixel ${id} is ${status}.`);
    });
}

function view(account: Account, { id, status }: Pixel) {
  return { id, account: account.id, status };
}
