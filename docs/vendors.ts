/** bun docs/vendors.ts: writes docs/importing/vendors.md from the profiles of vendors. A test compares the two. */
import { join } from "node:path";
import { leadFields } from "../src/contract/lead.ts";
import { vendors } from "../src/import/vendors/all.ts";
import type { Vendor } from "../src/import/vendors/vendor.ts";

/** The parts of a name are one row of a table. */
const rows: readonly (readonly [field: string, of: readonly (keyof Vendor["fields"])[]])[] = leadFields.map((field) =>
  field === "name" ? [field, ["name", "first_name", "last_name"]] : [field, [field]],
);

const code = (path: string) => `\`${path}\``;

/** Returns the page on vendors. */
export function vendorsPage(): string {
  const listed = Object.entries(vendors).flatMap(([name, vendor]) => (vendor === undefined ? [] : [{ name, vendor }]));
  const inOrder = listed.toSorted((a, b) => a.vendor.title.localeCompare(b.vendor.title, "en"));
  return `# Vendors

The import recognizes the exports and payloads of these vendors by the names of their fields, and prints the vendor. The only
option that may be needed is \`--pixel\`, if the file names no pixel. \`--vendor NAME\` chooses a vendor, and \`--vendor none\` reads a file by the
[names that all files share](../importing.md#which-column-is-which-field). Fields that are
not in a table are also read by those names. If several names have a value, the first one is used.

To receive the webhook of a vendor, create its URL, and enter it at the vendor:

\`\`\`sh
bun admin account create acme
bun admin source create acme --label rb2b --pixel px_site --create-pixels
\`\`\`

If a vendor is not listed, [add it](../../CONTRIBUTING.md) as one file of data. This page is generated from those files.

${inOrder.map(sectionOf).join("\n")}`;
}

function sectionOf({ name, vendor }: { name: string; vendor: Vendor }): string {
  const fields = rows.flatMap(([field, targets]) => {
    const paths = targets.flatMap((target) => vendor.fields[target] ?? []);
    return paths.length === 0 ? [] : [`| ${paths.map(code).join(", ")} | \`${field}\` |`];
  });
  const kept = vendor.notKept.length === 0 ? [] : [`| ${vendor.notKept.map(code).join(", ")} | not kept |`];
  const person =
    vendor.person === null
      ? "Its records name no visitor. "
      : vendor.person
        ? `The visitor is the object ${code(vendor.person)}. `
        : "";
  return [
    `## ${vendor.title}`,
    "",
    `${person}\`--vendor ${name}\``,
    "",
    "| path | becomes |",
    "|---|---|",
    ...fields,
    ...kept,
    "",
    ...(vendor.notes ?? []).flatMap((note) => [note, ""]),
  ].join("\n");
}

if (import.meta.main) await Bun.write(join(import.meta.dir, "importing/vendors.md"), vendorsPage());
