/** The program follow: passes on new leads of any server to standard output, a command, or a signed POST. */
import { Database } from "bun:sqlite";
import { access, constants } from "node:fs/promises";
import { dirname } from "node:path";
import { Command } from "commander";
import { fileCheckpoint } from "../src/file.ts";
import type { Checkpoint, Duration, Lead } from "../src/leadfile.ts";
import { createClient, messageOf, toRefusal } from "./api-client.ts";
import { readAddress, webhook } from "./post.ts";
import { command, deliver, type Receiver } from "./receiver.ts";
import { standardOutput } from "./standard-output.ts";
import { type Host, hostOf, Refusal, readKeys, refusing, say, stopSignal, systemCode } from "./terminal.ts";

interface FollowOptions {
  readonly exec?: string;
  readonly post?: string;
  readonly since?: string;
  /** As it was typed: the client checks it. */
  readonly every: Duration;
  readonly overlap: Duration;
  readonly checkpoint?: string;
  readonly allowPlainHttp?: boolean;
}

const minSecretLength = 16;
const postTimeoutMs = 15_000;

/** The command `follow URL`. */
export function followCommand(given: Partial<Host> = {}): Command {
  return new Command("follow")
    .description("pass on each new lead of a server, oldest first")
    .argument("<URL>", "base address, such as https://www.example.com")
    .option("--exec <CMD>", "run this command for each lead, with the lead on its standard input")
    .option("--post <URL>", "post each lead to this address, signed")
    .option("--since <TIME>", "begin with the leads of this time instead of the oldest lead")
    .option("--every <TIME>", "time between two polls", "1m")
    .option("--overlap <TIME>", "how far to look back for leads that arrive late", "1h")
    .option("--checkpoint <FILE>", "keep the progress in this file")
    .option("--allow-plain-http", "use http to other machines, where others can read it")
    .addHelpText(
      "after",
      `
The key is LEADFILE_KEY, or the first line of standard input. Without --exec or
--post, leads are lines of JSON on standard output. A lead is taken when its
line is written, the command ends with status 0, or the response is a 2xx. Until
then it is tried again with growing pauses, and later leads wait. Then the
checkpoint moves. A kill can repeat one lead; it loses none.

Leads that arrive later than --overlap are missed. A longer --overlap helps from
then on. To get missed leads, or to skip a lead that is refused for good, start
a new checkpoint with --since.

--post signs with LEADFILE_POST_SECRET: Leadfile-Signature is sha256= and the
HMAC-SHA-256, in hex, of Leadfile-Timestamp, a period, and the body. The
Idempotency-Key is the ID of the lead. The command of --exec sees neither the
key nor the secret.`,
    )
    .action(refusing((url: string, options: FollowOptions) => follow(hostOf(given), url, options)));
}

async function follow(host: Host, url: string, options: FollowOptions): Promise<void> {
  const since = readSince(options.since);
  const receiver = readReceiver(host, options);
  const [key = ""] = await readKeys(host, "Enter");
  const client = createClient({ baseUrl: url, key, allowPlainHttp: options.allowPlainHttp === true });
  const release = options.checkpoint === undefined ? null : await lockCheckpoint(options.checkpoint);
  const stop = stopSignal();
  const leads = client.leads.follow({
    since,
    every: options.every,
    overlap: options.overlap,
    checkpoint: options.checkpoint === undefined ? undefined : checkpointIn(options.checkpoint),
    signal: stop,
    onError: (error) => say(`${messageOf(error)} The next poll tries again.`),
  });
  await passOn(leads, receiver, stop).finally(release);
  // Standard input, or a write that nobody reads, may still keep the process.
  process.exit(0);
}

/** Passes leads on until a stop, or until nobody takes them. A lead that was not taken comes again at the next start. */
async function passOn(leads: AsyncIterable<Lead>, receiver: Receiver, stop: AbortSignal): Promise<void> {
  try {
    for await (const lead of leads) {
      if (!(await deliver(lead, receiver, say, stop))) return;
    }
  } catch (cause) {
    throw toRefusal(cause);
  }
}

/** The receiver that the options name; throws a Refusal if they name two. */
function readReceiver({ environment, now }: Host, { exec, post, allowPlainHttp }: FollowOptions): Receiver {
  if (exec !== undefined && post !== undefined) {
    throw new Refusal("Give either --exec or --post, not both.", 2);
  }
  const { LEADFILE_KEY: _, LEADFILE_POST_SECRET: secret, ...others } = environment;
  if (exec !== undefined) return command(exec, others);
  if (post === undefined) return standardOutput();
  const url = readAddress(post, allowPlainHttp === true);
  const signing = secret?.trim() ?? "";
  if (signing.length >= minSecretLength) return webhook({ url, secret: signing, now, timeoutMs: postTimeoutMs });
  throw new Refusal(
    `--post signs each lead with a secret of at least ${minSecretLength} characters. ` +
      "Set LEADFILE_POST_SECRET to the secret of the receiver.",
    2,
  );
}

/** A day, or a time with its offset: without one it would be another time on another machine. */
function readSince(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const isWhole = /^\d{4}-\d{2}-\d{2}(?:[Tt]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:[Zz]|[+-]\d{2}:\d{2}))?$/.test(text);
  const since = new Date(text);
  if (isWhole && !Number.isNaN(since.getTime())) return since;
  throw new Refusal("--since takes a day or a time with its offset, such as 2026-01-31T09:15:00Z.", 2);
}

/**
 * Locks a checkpoint for this process and returns the function that releases it; the end of the process does so too. A
 * second follow would deliver each lead again and overwrite the checkpoint. The lock is that of an empty SQLite file,
 * because the system itself has no portable one.
 */
async function lockCheckpoint(path: string): Promise<() => void> {
  await orRefuse(path, () => access(dirname(path), constants.W_OK));
  const lock = await orRefuse(path, () => new Database(`${path}.lock`, { create: true, readwrite: true }));
  try {
    lock.run("PRAGMA journal_mode = MEMORY");
    lock.run("BEGIN EXCLUSIVE");
    return () => lock.close();
  } catch (cause) {
    lock.close();
    if (!/^SQLITE_BUSY/.test(systemCode(cause) ?? "")) return orRefuse(path, () => Promise.reject(cause));
    throw new Refusal(`Another follow uses the checkpoint ${path}. Stop it, or name another checkpoint.`);
  }
}

/** A checkpoint in a file. A file that cannot be read or written becomes a Refusal. */
function checkpointIn(path: string): Checkpoint {
  const file = fileCheckpoint(path);
  return {
    load: () => orRefuse(path, () => file.load()),
    save: (text) => orRefuse(path, () => file.save(text)),
    add: (text) => orRefuse(path, () => file.add?.(text)),
  };
}

async function orRefuse<Result>(path: string, work: () => Result): Promise<Awaited<Result>> {
  try {
    return await work();
  } catch (cause) {
    const code = systemCode(cause);
    if (code === null) throw cause;
    throw new Refusal(`The checkpoint ${path} could not be read or written (${code}). Check its folder and disk.`);
  }
}
