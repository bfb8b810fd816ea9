/** The examples in the help of each command of the core. */
import type { Command } from "commander";
import { adminCommand } from "../program-name.ts";
import type { CommandEntry } from "./command.ts";

export const examples: CommandEntry["examples"] = {
  account: ["account create acme", "account list", "account deactivate acme"],
  "account create": ["account create acme", 'account create "Harbor & Pine" --json'],
  "account list": ["account list", "account list --json"],
  "account activate": ["account activate acme"],
  "account deactivate": ["account deactivate acme"],
  "account delete": ["account delete acme", "account delete acme --yes --json"],
  pixel: ["pixel create acme --id px_shop", "pixel list acme", "pixel set-status acme px_shop paused"],
  "pixel create": ["pixel create acme", "pixel create acme --id px_shop --status active"],
  "pixel list": ["pixel list acme", "pixel list acme --json"],
  "pixel set-status": ["pixel set-status acme px_shop paused"],
  key: ['key create acme --label "nightly export"', "key list acme", "key check < key.txt"],
  "key create": ['key create acme --label "nightly export"', "key create acme --json > key.json"],
  "key list": ["key list acme", "key list acme --json"],
  "key revoke": ["key revoke key_4hT2wQ", "key revoke key_4hT2wQ --yes"],
  "key rotate": ["key rotate key_4hT2wQ", "key rotate key_4hT2wQ --overlap 7d"],
  "key check": ["key check < key.txt", `printf %s "$LEADFILE_KEY" | ${adminCommand} key check`],
  lead: ["lead import acme export.csv --create-pixels", "lead export acme > leads.ndjson"],
  "lead import": [
    "lead import acme export.csv --create-pixels --rejects rejected.csv",
    `zcat export.csv.gz | ${adminCommand} lead import acme - --pixel px_home`,
    'lead import acme export.csv --map "Seen=identified_at" --day-first',
  ],
  "lead export": ["lead export acme > leads.ndjson", "lead export acme --format csv --spreadsheet-safe > leads.csv"],
  "lead find": ["lead find acme --email dana@example.com", "lead find acme --phone - < phone.txt"],
  "lead erase": [
    "lead erase acme --email - < address.txt >> receipts.ndjson",
    "lead erase acme --list opted-out.csv --dry-run",
  ],
  "lead unblock": ["lead unblock acme --email dana@example.com", "lead unblock acme --phone - < phone.txt"],
  import: ["import list acme", "import undo acme 3"],
  "import list": ["import list acme", "import list acme --json"],
  "import undo": ["import undo acme 3"],
  receipt: ["receipt list acme"],
  "receipt list": ["receipt list acme > receipts.ndjson"],
  retain: ["retain acme --days 365", "retain acme --days off"],
  backup: [
    "backup /var/backups/leadfile/today.db",
    "backup --drill /var/backups/leadfile/today.db",
    "backup s3://acme-backups/leadfile",
  ],
  "backup list": ["backup list", "backup list s3://acme-backups/leadfile --json"],
  restore: [
    "restore today.db --dry-run",
    "restore today.db --receipts receipts.ndjson",
    "restore s3://acme-backups/leadfile --identity identity.txt",
  ],
  upgrade: ["upgrade --check", "upgrade --check --json"],
  watch: ["watch"],
  audit: ["audit list"],
  "audit list": ["audit list --limit 20", "audit list --account acme --json"],
  stats: ["stats acme", "stats acme --days 365", "stats acme --html acme.html", "stats acme --json"],
  doctor: ["doctor", "doctor --full", "doctor --json"],
  serve: ["serve", "serve --demo"],
  health: ["health"],
  demo: ["demo", "demo --live --every 2 --seed 7"],
};

/** Puts the examples into the help of a command and of all below it. */
export function addExamples(command: Command, examples: CommandEntry["examples"], path: string): void {
  // The words `bun admin` stand in an example only where it begins with another program.
  const lines = (examples[path] ?? []).map((line) =>
    line.includes(`| ${adminCommand} `) ? line : `${adminCommand} ${line}`,
  );
  if (lines.length > 0) command.addHelpText("after", `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}`);
  for (const child of command.commands) addExamples(child, examples, `${path} ${child.name()}`);
}
