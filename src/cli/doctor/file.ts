/** The file, its log and their folder: who may read and write them, and the room on the disk. */
import { accessSync, constants, type Stats, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { filesOf, walOf } from "../../db/database-files.ts";
import { adminCommand } from "../../program-name.ts";
import { bytesText } from "../terminal/numbers.ts";
import { broken, type Finding, fine, warning } from "./finding.ts";

/**
 * A log this large was not written into the file for a long time. Somebody reads without end.
 */
const largeLogBytes = 256_000_000;

/** Room for others, such as logs and temporary files. */
const spareBytes = 100_000_000;
const leastBytes = 20_000_000;

/** Looks at the file at a path; where there is none, at the folder alone. */
export function lookAtFile(path: string): Finding[] {
  const file = statOf(path);
  if (file === null) return [...lookAtFolder(path), ...lookAtDisk(path, 0)];
  const log = statOf(walOf(path));
  const findings = [...lookAtAccess(path, file), ...lookAtFolder(path)];
  if (findings.length === 0) findings.push(fine("permissions", "Nobody but its owner can read or write the file."));
  findings.push(...lookAtNames(path, file));
  return [...findings, ...lookAtDisk(path, file.size + (log?.size ?? 0)), lookAtLog(path, log?.size ?? 0)];
}

function lookAtAccess(path: string, file: Stats): Finding[] {
  const findings: Finding[] = [];
  for (const name of filesOf(path)) {
    const found = statOf(name);
    if (found === null) continue;
    if ((found.mode & 0o077) !== 0) {
      const mode = (found.mode & 0o777).toString(8);
      findings.push(warning("permissions", `Other users may open ${name} (mode ${mode}).`, `chmod 600 ${name}`));
    }
    if (found.uid !== file.uid) {
      const what = `${name} belongs to another user (${found.uid}) than the database (${file.uid}).`;
      findings.push(broken("permissions", what, `chown ${file.uid}:${file.gid} ${name}; run commands as that user.`));
    }
    if (!mayWrite(name)) {
      const advice = "Run the server and its commands as its owner, and mount it for writing.";
      findings.push(broken("permissions", `This user may not write ${name}.`, advice));
    }
  }
  return findings;
}

/** SQLite names the log after the file, so a program that opens it by another name has another log. */
function lookAtNames(path: string, { nlink }: Stats): Finding[] {
  if (nlink === 1) return [];
  const what = `${path} has ${nlink} names (hard links). Written by two of them, the file is soon damaged.`;
  const advice = `Find the others with find / -xdev -samefile ${path}, and remove them; ${adminCommand} backup makes a copy.`;
  return [warning("file", what, advice)];
}

function lookAtFolder(path: string): Finding[] {
  const name = dirname(path);
  const folder = statOf(name);
  if (folder === null) return [];
  if (!mayWrite(name)) {
    const what = `This user may not write in the folder ${name}, where SQLite keeps the log of the database.`;
    return [broken("permissions", what, "Run the server and its commands as the owner of the folder.")];
  }
  // A folder with the sticky bit, such as /tmp, lets nobody replace another's file.
  const open = (folder.mode & 0o022) !== 0 && (folder.mode & 0o1000) === 0;
  return open
    ? [warning("permissions", `Other users may replace what is in the folder ${name}.`, `chmod go-w ${name}`)]
    : [];
}

/** The room on the disk of a file, beside what it takes already. */
export function lookAtDisk(path: string, usedBytes: number): Finding[] {
  const folder = dirname(path);
  if (statOf(folder) === null) return [];
  const { bavail, bsize } = statfsSync(folder);
  const freeBytes = bavail * bsize;
  const free = `${bytesText(freeBytes)} are free on the disk of ${folder}`;
  if (freeBytes < leastBytes) {
    return [broken("disk", `Only ${free}.`, "Make room: writes fail when it is full.")];
  }
  // An erasure and a migration write the whole file anew beside the old one.
  if (freeBytes < usedBytes + spareBytes) {
    const advice = "Make room: an erasure, an upgrade or a snapshot writes the whole file before the old one goes.";
    return [warning("disk", `Only ${free}, and the database takes ${bytesText(usedBytes)}.`, advice)];
  }
  return [fine("disk", `${free}.`)];
}

function lookAtLog(path: string, bytes: number): Finding {
  if (bytes > largeLogBytes) {
    const advice = "Restart the server; if it stays, look for a program that has the file open and reads without end.";
    return warning("log", `The log ${walOf(path)} has grown to ${bytesText(bytes)}.`, advice);
  }
  return fine("log", bytes === 0 ? "The log beside the file is empty." : `The log has ${bytesText(bytes)}.`);
}

function statOf(path: string): Stats | null {
  return statSync(path, { throwIfNoEntry: false }) ?? null;
}

/** Whether this user may write into a file or folder. */
export function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
