#!/usr/bin/env -S bun --no-env-file --config=/dev/null
/** The program conformance: checks any server against the specification, section by section. */
import { type Command, Help } from "commander";
import { messageOf, serverCommand } from "../../client/program/server-command.ts";
import { forgetFolder, type Host, printable, readKeys, say, thisProcess } from "../../client/program/terminal.ts";
import { ApiError, Leadfile, LeadfileError, SettingError, UnexpectedAnswerError } from "../../client/src/leadfile.ts";
import { conform, type Report } from "./conform.ts";
import type { Keys } from "./probe.ts";

interface Options {
  readonly limits?: boolean;
  readonly json?: boolean;
}

/** The command `conformance URL`. Its status is 1 if a check failed. */
export function conformanceCommand(host: Host = thisProcess): Command {
  return serverCommand<Options>("conformance", (url, options, command) => check(host, url, options, command))
    .description("check any server against the specification, section by section")
    .option("--limits", "also check the rate limit, which uses up one minute of the key")
    .option("--json", "print one JSON value on standard output")
    .addHelpText(
      "after",
      `
The key is LEADFILE_KEY, or the first line of standard input. The second line
can hold a revoked key, the third line a key of an account without an active
subscription.`,
    );
}

async function check(host: Host, url: string, options: Options, command: Command): Promise<void> {
  const keys = await readAllKeys(host);
  await refuseUseless(url, keys.live);
  const report = await conform(url, keys, options.limits === true, { sleep: Bun.sleep, say });
  const text = options.json === true ? JSON.stringify(report) : reportText(report);
  command.configureOutput().writeOut?.(`${text}\n`);
  if (report.failed > 0)
    throw new LeadfileError(`${report.failed} ${report.failed === 1 ? "check" : "checks"} failed.`);
}

/** Throws if the server does not answer or the key does not work: every check would fail for that reason. */
async function refuseUseless(url: string, key: string): Promise<void> {
  const client = new Leadfile({ baseUrl: url, key, allowPlainHttp: true, retries: 0 });
  await client.usage.get().catch((cause: unknown) => {
    // What is wrong with such a body is for the checks.
    if (cause instanceof UnexpectedAnswerError) return;
    if (!(cause instanceof ApiError)) throw cause;
    if (cause.status !== 401 && cause.status !== 403) return;
    throw new LeadfileError(
      `The key does not work: ${messageOf(cause)} Give a live key of an account with an active subscription; every check needs it.`,
    );
  });
}

async function readAllKeys(host: Host): Promise<Keys> {
  const [live = "", revoked, unsubscribed] = await readKeys(host, "Enter and Ctrl-D");
  // A header can hold nothing else.
  if ([live, revoked, unsubscribed].some((key) => key !== undefined && /[^\x21-\x7e]/.test(key))) {
    throw new SettingError("A key contains an invalid character. Copy the key again.");
  }
  return { live, revoked: revoked || null, unsubscribed: unsubscribed || null };
}

const marks = { passed: "ok", failed: "FAILED", skipped: "skipped" } as const;

/** The report as lines that fit 80 columns. */
function reportText({ url, passed, failed, skipped, checks }: Report): string {
  const lines = checks.map(({ section, title, verdict, reason }) => {
    const label = `${marks[verdict].padEnd(9)}§${section.padEnd(5)}`;
    const line = indented(label, printable(title));
    return reason === null ? line : `${line}\n${indented(" ".repeat(label.length), printable(reason))}`;
  });
  return [...lines, "", `${printable(url)}: ${passed} passed, ${failed} failed, ${skipped} skipped.`].join("\n");
}

/** A text behind a label, wrapped below its own beginning. */
function indented(label: string, text: string): string {
  const lines = new Help().boxWrap(text, 80 - label.length);
  return label + lines.replaceAll("\n", `\n${" ".repeat(label.length)}`);
}

if (import.meta.main) {
  forgetFolder();
  await conformanceCommand().parseAsync();
}
