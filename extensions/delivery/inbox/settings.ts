/** The settings of a folder or a source: the options of lead import by their long names. Those of a folder are in import.json. */
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type ImportSettings, requestOf, settingNames } from "../../../src/cli/lead/import/options.ts";
import { codeOf } from "../../../src/db/failure.ts";
import { UserError } from "../../../src/runtime/user-error.ts";
import { optionsFile } from "./drop-folder.ts";

/** Returns whether a folder belongs to an account, by its ID or name. File systems write accented letters in two ways. */
export function isFolderOf({ id, name }: { readonly id: string; readonly name: string }, folder: string): boolean {
  const wanted = folder.normalize("NFC");
  return id === wanted || name.normalize("NFC") === wanted;
}

/** Returns the settings of a folder, which are empty without import.json. Throws a UserError that names the problem. */
export function settingsIn(folder: string): ImportSettings {
  const path = join(folder, optionsFile);
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return {};
  // Without its settings, a file would become other leads than its owner wants.
  const unread = (why: string) =>
    new UserError(`import.json cannot be read (${why}); correct it, and the files are imported.`, "");
  try {
    const text = readSmall(path);
    if (text === null) throw unread("not a file, or larger than 64 KiB");
    return checkSettings(JSON.parse(text.replace(/^\ufeff/, "")), optionsFile);
  } catch (cause) {
    if (cause instanceof UserError) throw cause;
    throw unread(cause instanceof SyntaxError ? "not JSON" : codeOf(cause) || "unknown");
  }
}

const maxSettingsBytes = 64 * 1024;

/** Returns the text of a small file; null for a pipe and for a file that is large or has no end, which would block. */
function readSmall(path: string): string | null {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found = fstatSync(file);
    return found.isFile() && found.size <= maxSettingsBytes ? readFileSync(file, "utf8") : null;
  } finally {
    closeSync(file);
  }
}

/** Returns a value as settings. Throws a UserError that names the problem and the `source` of the value. */
export function checkSettings(value: unknown, source: string): ImportSettings {
  const takes = `it takes ${settingNames.join(", ")}, with the values of lead import.`;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UserError(`${source} is not a JSON object; ${takes}`, "");
  }
  const settings: [string, unknown][] = Object.entries(value);
  const wrong = settings.find(([name, value]) => !isSetting(name, value))?.[0];
  if (wrong !== undefined) throw new UserError(`${source} has an invalid ${JSON.stringify(wrong)}; ${takes}`, "");
  return Object.fromEntries(settings) as ImportSettings; // Each of them was checked.
}

/** Returns whether commander accepts an option with this value. */
function isSetting(name: string, value: unknown): boolean {
  if (!settingNames.includes(name) || (typeof value !== "string" && typeof value !== "boolean")) return false;
  try {
    // A flag accepts `false` as well.
    requestOf({ [name]: value === false ? true : value });
    return true;
  } catch {
    // The value is not one of the choices, or a flag has a text as its value.
    return false;
  }
}
