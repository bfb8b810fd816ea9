/** A file with leads of persons, one of whom has two, and one whose address ends like that of another. */
import { anAdmin } from "../support/admin.ts";

const header = "id,identified_at,pixel_id,name,email,verified_email,phone\n";
const rows = [
  "0190a000-0000-7000-8000-000000000001,2026-01-01T00:00:01Z,px,Dana Whitfield,Dana.W@Example.com,,15550142111",
  "0190a000-0000-7000-8000-000000000002,2026-01-02T00:00:01Z,px,Dana Whitfield,home@example.org,dana.w@example.com,",
  "0190a000-0000-7000-8000-000000000003,2026-01-03T00:00:01Z,px,Robin Vale,robin@example.com,,15550142112",
  "0190a000-0000-7000-8000-000000000004,2026-01-04T00:00:01Z,px,Kim Ellis,bandana.w@example.com,,1555014211",
];
/** The file, as it is imported. */
export const everything = `${header}${rows.join("\n")}\n`;

/** An admin whose accounts are there, and the file imported into the first. */
export async function aFile(accounts = ["acme"]) {
  const admin = anAdmin(accounts);
  await admin.import(everything);
  return admin;
}
