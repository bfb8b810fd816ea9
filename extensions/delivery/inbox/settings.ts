/** The settings of a folder or a source: the options of lead import by their long names. Those of a folder are in import.json. */
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Value } from "@sinclair/typebox/value";
import { ImportSettings } from "../../../src/cli/lead/import/options.ts";
import { codeOf } from "../../../src/db/failure.ts";
import { optionsFile } from "./drop-folder.ts";

/** Returns whether a folder belongs to an account, by its ID or name. File systems write accented letters in two ways. */
export function isFolderOf({ id, name }: { readonly id: string; readonly name: string }, folder: string): boolean {
  const wanted = folder.normalize("NFC");
  return id === wanted || name.normalize("NFC") === wanted;
}

/** Returns the settings of a folder, or what is wrong with them. Without import.json there are none. */
export function settingsIn(folder: string): ImportSettings | { readonly fault: string } {
  const path = join(folder, optionsFile);
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return {};
  // Without its settings, a file would become other leads than its owner wants.
  const unread = (why: string) => ({
    fault: `import.json cannot be read (${why}); correct it, and the files are imported.`,
  });
  try {
    const text = readSmall(path);
    if (text === null) return unread("not a file, or larger than 64 KiB");
    return checkSettings(JSON.parse(text.replace(/^\ufeff/, "")), optionsFile);
  } catch (cause) {
    return unread(cause instanceof SyntaxError ? "not JSON" : codeOf(cause) || "unknown");
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

/** Returns a value as settings, or what is wrong with it. `source` names where it was stored. */
export function checkSettings(value: unknown, source: string): ImportSettings | { readonly fault: string } {
  if (Value.Check(ImportSettings, value)) return value;
  const path = Value.Errors(ImportSettings, value).First()?.path.slice(1) ?? "";
  const names = Object.keys(ImportSettings.properties).join(", ");
  const what = path === "" ? `${source} is not a JSON object` : `${source} has a wrong ${JSON.stringify(path)}`;
  return { fault: `${what}; it takes ${names}, with the values of lead import.` };
}
