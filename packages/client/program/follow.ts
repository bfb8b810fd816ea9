#!/usr/bin/env -S bun --no-env-file --config=/dev/null
/** The program follow: passes on new leads of any server to standard output, a command, or a signed POST. */
import { Database } from "bun:sqlite";
import { access, constants } from "node:fs/promises";
import { dirname } from "node:path";
import type { Command } from "commander";
import { codeOf } from "../src/exchange.ts";
import { fileCheckpoint } from "../src/file.ts";
import { type Duration, Leadfile, LeadfileError, type Retry, SettingError } from "../src/leadfile.ts";
import { readAddress } from "../src/settings.ts";
import { type DeadLetters, openDeadLetters } from "./dead-letters.ts";
import { readSecret, webhook } from "./post.ts";
import { command, deliver, type Receiver } from "./receiver.ts";
import { messageOf, serverCommand } from "./server-command.ts";
import { standardOutput } from "./standard-output.ts";
import { clockTime, forgetFolder, type Host, readKeys, say, stopSignal, thisProcess } from "./terminal.ts";

interface FollowOptions {
  readonly exec?: string;
  readonly post?: string;
  readonly since?: string;
  /** As it was typed: the client checks it. */
  readonly every: Duration;
  readonly overlap: Duration;
  readonly checkpoint?: string;
  readonly deadLetter?: string;
  /** As it was typed. */
  readonly giveUpAfter?: string;
  readonly allowPlainHttp?: boolean;
}

const postTimeoutMs = 15_000;
/** A shorter pause before a retry is not worth a line. */
const minSaidMs = 5_000;

/** The command `follow URL`. */
export function followCommand(host: Host = thisProcess): Command {
  return serverCommand<FollowOptions>("follow", (url, options) => follow(host, url, options))
    .description("print or forward each new lead of a server, oldest first")
    .option("--exec <CMD>", "run this command for each lead, with the lead on its standard input")
    .option("--post <URL>", "post each lead to this address, signed")
    .option("--since <TIME>", "begin with the leads of this time instead of the oldest lead")
    .option("--every <TIME>", "time between two polls", "1m")
    .option("--overlap <TIME>", "how far to look back for leads that arrive late", "1h")
    .option("--checkpoint <FILE>", "keep the progress in this file")
    .option("--dead-letter <FILE>", "append permanently rejected leads to this file")
    .option("--give-up-after <N>", "also reject a lead after this many attempts")
    .option("--allow-plain-http", "use http to other machines, where others can read it")
    .addHelpText(
      "after",
      `
The key is LEADFILE_KEY, or the first line of standard input. Without --exec or
--post, leads are lines of JSON on standard output. A lead is processed when its
line is written, the command ends with status 0, or the response is a 2xx. Until
then it is retried with exponential backoff, before any later lead. Then the
checkpoint moves. A kill repeats at most one lead, and loses none.

With --dead-letter, a lead that a receiver rejects permanently (400, 413, 415,
422) is written to that file with the reason, and follow continues with the next
lead. --give-up-after does the same with any lead after N attempts.

Leads that arrive later than --overlap are missed. For later leads, set a longer
--overlap. To get missed leads, start a new checkpoint with --since, which takes
a day or a time with its offset.

--post signs as Standard Webhooks with LEADFILE_POST_SECRET, which is whsec_ and
base64, or a text: webhook-signature is v1, and the HMAC-SHA-256, in base64, of
webhook-id, webhook-timestamp, and the body, joined by periods. webhook-id is
the ID of the lead. The command of --exec sees neither the key nor the secret.`,
    );
}

async function follow(host: Host, url: string, options: FollowOptions): Promise<void> {
  const receiver = await readReceiver(host, options);
  const [key = ""] = await readKeys(host, "Enter");
  const stop = stopSignal();
  if (receiver.onStop !== undefined) stop.addEventListener("abort", receiver.onStop);
  const deadLetters = await readDeadLetters(host, options);
  const nextRequest = (waitMs: number) => `The next request is at ${clockTime(host.now() + waitMs)}.`;
  const onRetry = ({ error, waitMs }: Retry) => {
    if (waitMs < minSaidMs) return;
    say(`${error === null ? "The rate limit of this minute is reached." : messageOf(error)} ${nextRequest(waitMs)}`);
  };
  const client = new Leadfile({ baseUrl: url, key, allowPlainHttp: options.allowPlainHttp === true, onRetry });
  const { since, every, overlap, checkpoint } = options;
  const onError = (error: LeadfileError, waitMs: number) => say(`${messageOf(error)} ${nextRequest(waitMs)}`);
  const delivery = { say, stop, now: host.now, deadLetters };
  try {
    using _ = checkpoint === undefined ? null : await lockCheckpoint(checkpoint);
    const file = checkpoint === undefined ? undefined : fileCheckpoint(checkpoint);
    const leads = client.leads.follow({ since, every, overlap, checkpoint: file, signal: stop, onError });
    // A lead that was not taken comes again at the next start.
    for await (const lead of leads) if (!(await deliver(lead, receiver, delivery))) break;
  } catch (cause) {
    // The receivers handle their errors of the system, so this one is that of the checkpoint.
    const code = cause instanceof LeadfileError ? null : codeOf(cause);
    if (code === null || checkpoint === undefined) throw cause;
    throw new LeadfileError(
      `The checkpoint ${checkpoint} could not be read or written (${code}). Check its folder and disk.`,
    );
  }
  // Standard input may still keep the process.
  process.exit(0);
}

/** The receiver that the options name; throws a SettingError if they name two. */
async function readReceiver({ now }: Host, { exec, post, allowPlainHttp }: FollowOptions): Promise<Receiver> {
  if (exec !== undefined && post !== undefined) {
    throw new SettingError("Give either --exec or --post, not both.");
  }
  const { LEADFILE_KEY: _, LEADFILE_POST_SECRET: secret, ...others } = process.env;
  if (exec !== undefined) return command(exec, others);
  if (post === undefined) return standardOutput();
  const url = readAddress("--post", post, "https://crm.example.com/leads", allowPlainHttp === true);
  return webhook({ url, secret: readSecret(secret?.trim() ?? ""), now, timeoutMs: postTimeoutMs });
}

async function readDeadLetters({ now }: Host, options: FollowOptions): Promise<DeadLetters | null> {
  const { deadLetter, giveUpAfter, exec, post } = options;
  if (giveUpAfter !== undefined && !/^[1-9]\d{0,8}$/.test(giveUpAfter)) {
    throw new SettingError("--give-up-after takes a whole number from 1.");
  }
  if (deadLetter === undefined) {
    if (giveUpAfter === undefined) return null;
    throw new SettingError("--give-up-after needs --dead-letter FILE, which gets the leads.");
  }
  if (exec === undefined && post === undefined) {
    throw new SettingError("--dead-letter needs --exec or --post: standard output refuses no lead.");
  }
  return openDeadLetters(deadLetter, Number(giveUpAfter ?? Number.POSITIVE_INFINITY), now);
}

/**
 * Locks a checkpoint for this process until the lock is closed. A second follow would deliver each lead again and overwrite
 * the checkpoint. The lock is that of an empty SQLite file, because the system itself has no portable one.
 */
async function lockCheckpoint(path: string): Promise<Database> {
  await access(dirname(path), constants.W_OK);
  const lock = new Database(`${path}.lock`, { create: true, readwrite: true });
  try {
    lock.run("PRAGMA journal_mode = MEMORY");
    lock.run("BEGIN EXCLUSIVE");
    return lock;
  } catch (cause) {
    lock.close();
    if (!/^SQLITE_BUSY/.test(codeOf(cause) ?? "")) throw cause;
    throw new LeadfileError(`Another follow uses the checkpoint ${path}. Stop it, or name another checkpoint.`);
  }
}

if (import.meta.main) {
  forgetFolder();
  await followCommand().parseAsync();
}
