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

The import recognizes the exports and payloads of these vendors by the names of their fields, and prints the vendor. No option is
needed but \`--pixel\`, if the file names no pixel. \`--vendor NAME\` chooses a vendor, and \`--vendor none\` reads a file by the
[names that all files share](../importing.md#which-column-is-which-field). Fields that a table lacks are read by those names too.
Of several names, the first one with a value counts.

To receive the webhook of a vendor, create its URL, and enter it at the vendor:

\`\`\`sh
bun admin account create acme
bun admin source create acme --label rb2b --pixel px_site --create-pixels
\`\`\`

Not listed? [Add a vendor](../../CONTRIBUTING.md): it is one file of data. This page is made from those files.

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
      ? "It names no visitor. "
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
