/** How the files of a folder are read: `import.json` beside them, with the options of lead import by their long names. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { optionsFile } from "./drop-folder.ts";

const ImportSettings = Type.Partial(
  Type.Object(
    {
      map: Type.String(),
      pixel: Type.String(),
      "create-pixels": Type.Boolean(),
      identity: Type.String(),
      "on-duplicate": Type.Union([Type.Literal("skip"), Type.Literal("replace")]),
      stamp: Type.Union([Type.Literal("source"), Type.Literal("arrival")]),
      timezone: Type.String(),
      "day-first": Type.Boolean(),
    },
    { additionalProperties: false },
  ),
);
export type ImportSettings = Static<typeof ImportSettings>;

/** The settings beside the files of a folder, or what is wrong with them. Without such a file there are none. */
export function settingsIn(folder: string): ImportSettings | { readonly fault: string } {
  let text: string;
  try {
    text = readFileSync(join(folder, optionsFile), "utf8");
  } catch {
    return {};
  }
  return readSettings(text);
}

function readSettings(text: string): ImportSettings | { readonly fault: string } {
  try {
    return checkSettings(JSON.parse(text), optionsFile);
  } catch {
    return { fault: "import.json is not JSON; mend it, and the files are taken." };
  }
}

/** A value as settings, or what is wrong with it. `place` names where it was kept. */
export function checkSettings(value: unknown, place: string): ImportSettings | { readonly fault: string } {
  if (Value.Check(ImportSettings, value)) return value;
  const path = Value.Errors(ImportSettings, value).First()?.path.slice(1) ?? "";
  const names = Object.keys(ImportSettings.properties).join(", ");
  const what = path === "" ? `${place} is no JSON object` : `${place} has a wrong ${JSON.stringify(path)}`;
  return { fault: `${what}; it takes ${names}, each as lead import takes it.` };
}
