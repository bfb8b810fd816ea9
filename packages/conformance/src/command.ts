/** bun admin conformance: checks any server against the specification, with a key that is no argument. */
import type { Command } from "commander";
import { jsonCommand, outputOf, type PackageContext } from "../../../src/cli/command.ts";
import { readAll } from "../../../src/cli/terminal/standard-input.ts";
import { labelled } from "../../../src/cli/terminal/table.ts";
import { paths } from "../../../src/contract/paths.ts";
import { printable } from "../../../src/operator/printable.ts";
import { systemCode } from "../../../src/operator/system-code.ts";
import { UserError } from "../../../src/user-error.ts";
import { conform, type Report } from "./conform.ts";
import { type Keys, send } from "./probe.ts";
import { type Answer, codeOf } from "./shapes.ts";

interface Options {
  readonly limits?: boolean;
  readonly json?: boolean;
}

export function conformanceCommand(context: PackageContext): Command {
  return jsonCommand("conformance")
    .description("check any server against the specification, section by section")
    .argument("<URL>", "base address, such as https://www.example.com")
    .option("--limits", "check the limit too, which uses up a minute of the key")
    .addHelpText(
      "after",
      `
The key is LEADFILE_KEY, or the first line of standard input. A second line may
hold a revoked key, a third one a key of an account without a subscription.`,
    )
    .action((url: string, options: Options) => check(context, url, options));
}

async function check(context: PackageContext, url: string, options: Options): Promise<void> {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new UserError("URL takes the address of a server, such as https://www.example.com.", "", 2);
  }
  const output = outputOf(options);
  const keys = await readKeys(context);
  await refuseUseless(url, keys.live);
  const report = await conform(url, keys, options.limits === true, { sleep: Bun.sleep, say: output.say });
  output.result(report, reportText(report));
  if (report.failed > 0) context.endWith(1);
}

/** Where nothing answers at all, or the key does not work, the checks would fail for that one reason. */
async function refuseUseless(url: string, key: string): Promise<void> {
  const { status, body } = await askOnce(url, key);
  if (status !== 401 && status !== 403) return;
  throw new UserError(
    `The key does not work: ${printable(`${url} answered ${status} ${codeOf(body) ?? ""}`.trim())}.`,
    "Give a live key of an account with a subscription; every check needs it.",
  );
}

async function askOnce(url: string, key: string): Promise<Answer> {
  try {
    return await send(new URL(url), key, paths.usage);
  } catch (cause) {
    const reason = systemCode(cause) ?? (cause instanceof Error ? cause.name : "unknown");
    throw new UserError(
      `${printable(url)} was not reached (${reason}).`,
      "Check the address, and that the server runs.",
    );
  }
}

async function readKeys(context: PackageContext): Promise<Keys> {
  const given = context.clientKey() ?? (await readAll(context.standardInput(), "the key"));
  const [live, revoked, unsubscribed] = given.split("\n").map((line) => line.trim());
  if (!live) throw new UserError("No key was given.", "Set LEADFILE_KEY, or give the key on standard input.", 2);
  // Nothing else can stand in a header.
  if ([live, revoked, unsubscribed].some((key) => key !== undefined && /[^\x21-\x7e]/.test(key))) {
    throw new UserError("A key was given with a character that no key has.", "Copy it anew.", 2);
  }
  return { live, revoked: revoked || null, unsubscribed: unsubscribed || null };
}

const marks = { passed: "ok", failed: "FAILED", skipped: "skipped" } as const;

function reportText({ url, passed, failed, skipped, checks }: Report): string {
  const lines = checks.map(({ section, title, verdict, reason }) => {
    const line = labelled(`${marks[verdict].padEnd(9)}§${section.padEnd(5)}`, printable(title));
    return reason === null ? line : `${line}\n${labelled(" ".repeat(15), printable(reason))}`;
  });
  return [...lines, "", `${printable(url)}: ${passed} passed, ${failed} failed, ${skipped} skipped.`].join("\n");
}
