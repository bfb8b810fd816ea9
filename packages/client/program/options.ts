/** The options of follow: where it begins, where leads go, and the file of its checkpoint. */
import { access, constants } from "node:fs/promises";
import { dirname } from "node:path";
import type { PackageContext } from "../../../src/cli/command.ts";
import { systemCode } from "../../../src/operator/system-code.ts";
import { UserError } from "../../../src/user-error.ts";
import { fileCheckpoint } from "../src/file.ts";
import type { Checkpoint, Duration } from "../src/leadfile.ts";
import { command } from "./exec.ts";
import { readAddress, webhook } from "./post.ts";
import type { Receiver } from "./receiver.ts";
import { standardOutput } from "./standard-output.ts";

export interface FollowOptions {
  readonly exec?: string;
  readonly post?: string;
  readonly since?: string;
  /** As it was typed: the client checks it. */
  readonly every: Duration;
  readonly overlap: Duration;
  readonly checkpoint?: string;
  readonly allowPlainHttp?: boolean;
}

const leastSecret = 16;
const answerMs = 15_000;

/** The receiver that the options name. Throws a UserError where they name two. */
export function readReceiver(context: PackageContext, { exec, post, allowPlainHttp }: FollowOptions): Receiver {
  if (exec !== undefined && post !== undefined)
    throw new UserError("Leads go to --exec or to --post, and not to both.", "", 2);
  if (exec !== undefined) return command(exec, context.withoutSecrets());
  if (post === undefined) return standardOutput();
  const url = readAddress(post, allowPlainHttp === true);
  const secret = context.postSecret() ?? "";
  if (secret.length >= leastSecret) return webhook({ url, secret, now: context.now, answerMs });
  throw new UserError(
    `--post signs what it sends, with a secret of ${leastSecret} characters or more.`,
    "Set LEADFILE_POST_SECRET, to the same as at the receiver.",
    2,
  );
}

/** A day, or a time with its offset: without one it would be another moment on another machine. */
export function readSince(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const isWhole = /^\d{4}-\d{2}-\d{2}(?:[Tt]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:[Zz]|[+-]\d{2}:\d{2}))?$/.test(text);
  const since = new Date(text);
  if (isWhole && !Number.isNaN(since.getTime())) return since;
  throw new UserError("--since takes a day or a time with its offset, such as 2026-01-31T09:15:00Z.", "", 2);
}

/**
 * Takes a checkpoint for this process, and gives its release. A second follow with it would deliver each lead again, and
 * write over it. Throws a UserError where another process has it, or where its folder takes no files.
 */
export async function lockCheckpoint({ lock }: PackageContext, path: string): Promise<() => void> {
  await orSay(path, () => access(dirname(path), constants.W_OK));
  // The lock narrows the umask; what --exec starts is to have that of the caller.
  const umask = process.umask();
  const release = lock(path);
  process.umask(umask);
  if (release !== null) return release;
  throw new UserError(`Another follow uses the checkpoint ${path}.`, "End that first, or name another checkpoint.");
}

/** A checkpoint in a file. A file that cannot be read or written becomes a UserError. */
export function checkpointIn(path: string): Checkpoint {
  const file = fileCheckpoint(path);
  return {
    load: () => orSay(path, () => file.load()),
    save: (text) => orSay(path, () => file.save(text)),
    add: (text) => orSay(path, () => file.add?.(text)),
  };
}

async function orSay<Result>(path: string, work: () => Result): Promise<Awaited<Result>> {
  try {
    return await work();
  } catch (cause) {
    const code = systemCode(cause);
    if (code === null) throw cause;
    throw new UserError(`The checkpoint ${path} could not be read or written (${code}).`, "Check its folder and disk.");
  }
}
