/** bun admin pixel: the pixels of an account (§2.3). */
import { Command } from "commander";
import type { Pixel } from "../contract/pixel.ts";
import { randomText } from "../contract/random-text.ts";
import { adminCommand } from "../program-name.ts";
import type { Account } from "../store/repositories.ts";
import { UserError } from "../user-error.ts";
import { accountOf, checkPixelId, checkText } from "./arguments.ts";
import { type CommandContext, jsonCommand, outputOf } from "./command.ts";
import { listed } from "./terminal/table.ts";

export function pixelCommand(context: CommandContext): Command {
  return new Command("pixel")
    .description("the pixels of an account")
    .addCommand(createCommand(context))
    .addCommand(listCommand(context))
    .addCommand(setStatusCommand(context));
}

function createCommand(context: CommandContext): Command {
  return jsonCommand("create")
    .description("make a pixel, and print its id")
    .argument("<ACCOUNT>", "id or exact name")
    .option("--id <ID>", "the id that the vendor gave it; made up unless given")
    .option("--status <STATUS>", "the status that the API shows", "active")
    .action((idOrName: string, options: { id?: string; status: string; json?: boolean }) => {
      const account = accountOf(context, idOrName);
      const id = options.id === undefined ? `px_${randomText(12)}` : checkPixelId("--id", options.id);
      const pixel = { id, status: checkText("--status", options.status) };
      if (!context.store().pixels.create(account.number, pixel, context.now())) {
        throw new UserError(
          `A pixel of the account has the id ${JSON.stringify(id)} already.`,
          `${adminCommand} pixel list shows it.`,
        );
      }
      outputOf(options).result(view(account, pixel), id);
    });
}

function listCommand(context: CommandContext): Command {
  return jsonCommand("list")
    .description("list the pixels of an account")
    .argument("<ACCOUNT>", "id or exact name")
    .action((idOrName: string, options) => {
      const account = accountOf(context, idOrName);
      const pixels = context.store().pixels.list(account.number);
      const all = pixels.map((pixel) => view(account, pixel));
      const rows = all.map(({ id, status }) => [id, status]);
      outputOf(options).result(all, listed("The account has no pixels.", ["ID", "STATUS"], rows));
    });
}

function setStatusCommand(context: CommandContext): Command {
  return jsonCommand("set-status")
    .description("change the status of a pixel")
    .argument("<ACCOUNT>", "id or exact name")
    .argument("<ID>", "id of the pixel")
    .argument("<STATUS>", "such as active or paused")
    .action((idOrName: string, id: string, text: string, options) => {
      const account = accountOf(context, idOrName);
      const status = checkText("STATUS", text);
      if (!context.store().pixels.setStatus(account.number, { id, status })) throw noSuchPixel(account, id);
      outputOf(options).result(view(account, { id, status }), `The status of pixel ${id} is ${status}.`);
    });
}

function noSuchPixel(account: Account, id: string): UserError {
  return new UserError(
    `${account.name} has no pixel with the id ${JSON.stringify(id)}.`,
    `${adminCommand} pixel list ${account.id} shows them.`,
  );
}

function view(account: Account, { id, status }: Pixel) {
  return { id, account: account.id, status };
}
