/** Checks the database file, its log, and their folder: who can read and write them, and the free space on the disk. */
import { accessSync, constants, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import { filesOf, freeBytesAt, isFileOfNode, walOf } from "../../db/database-files.ts";
import { adminCommand } from "../../runtime/program-name.ts";
import { bytesText } from "../terminal/numbers.ts";
import { broken, type Examined, type Finding, fine, onlyFound, orFine, warning } from "./finding.ts";

/** A log of this size was not written into the file for a long time, because some program reads without end. */
const maxLogBytes = 256_000_000;
/** Space for other programs, such as for logs and temporary files. */
const spareBytes = 100_000_000;
const minFreeBytes = 20_000_000;

/** Checks the file; if there is none, its folder and disk alone. The extension checks the file of a node. */
export function checkStorage({ path, config }: Examined): Finding[] {
  if (config?.cluster != null) return [];
  if (isFileOfNode(path)) {
    const what = `${path} belongs to an rqlite node, and only that node may write to it.`;
    return [broken("cluster", what, "Set CLUSTER and NODE_NAME, or set DATABASE_PATH to another file.")];
  }
  const file = statOf(path);
  if (file === null) return [...checkFolder(dirname(path)), ...checkDisk(path, 0)];
  const logBytes = statOf(walOf(path))?.size ?? 0;
  const access = filesOf(path).flatMap((name) => checkAccess(name, file));
  return [
    ...orFine(
      fine("permissions", "Only its owner can read and write the file."),
      ...access,
      ...checkFolder(dirname(path)),
    ),
    ...checkNames(path, file),
    ...checkDisk(path, file.size + logBytes),
    checkLog(walOf(path), logBytes),
  ];
}

function checkAccess(name: string, database: Stats): Finding[] {
  const found = statOf(name);
  if (found === null) return [];
  const { uid, gid } = database;
  const isOpen = `Other users can open ${name} (mode ${(found.mode & 0o777).toString(8)}).`;
  const isOfOther = `${name} belongs to user ${found.uid}, and the database to user ${uid}. Run commands as user ${uid}.`;
  const asOwner = "Run the server and its commands as the owner of the file, on a disk that is mounted read-write.";
  const folder = statOf(dirname(name)) ?? database;
  const isOfRoot = found.uid === 0 && folder.uid !== 0;
  return onlyFound(
    (found.mode & 0o077) !== 0 && warning("permissions", isOpen, `chmod 600 ${name}`),
    isOfRoot &&
      broken(
        "permissions",
        `${name} belongs to root, and its folder to user ${folder.uid}: a server of that user cannot write to it.`,
        `As root: chown ${folder.uid}:${folder.gid} ${name}`,
      ),
    !isOfRoot && found.uid !== uid && broken("permissions", isOfOther, `chown ${uid}:${gid} ${name}`),
    !isOfRoot && !mayWrite(name) && broken("permissions", `This user cannot write to ${name}.`, asOwner),
  );
}

function checkFolder(name: string): Finding[] {
  const folder = statOf(name);
  if (folder === null) return [];
  if (!mayWrite(name)) {
    const what = `This user cannot write to the folder ${name}, where SQLite keeps the log of the database.`;
    return [broken("permissions", what, "Run the server and its commands as the owner of the folder.")];
  }
  // In a folder with the sticky bit, such as /tmp, nobody can replace the file of another user.
  if ((folder.mode & 0o022) === 0 || (folder.mode & 0o1000) !== 0) return [];
  return [warning("permissions", `Other users can replace files in the folder ${name}.`, `chmod go-w ${name}`)];
}

/** SQLite names the log after the file, so a program that opens it by another name uses another log. */
function checkNames(path: string, { nlink }: Stats): Finding[] {
  if (nlink === 1) return [];
  const what = `${path} has ${nlink} hard links. Programs that open it by different names damage it.`;
  const advice = `Remove the other names. To list them: find / -xdev -samefile ${path}. To copy the file: ${adminCommand} backup FILE`;
  return [warning("file", what, advice)];
}

/** Checks the free space on the disk of a file that already uses some. */
export function checkDisk(path: string, usedBytes: number): Finding[] {
  const folder = dirname(path);
  if (statOf(folder) === null) return [];
  const freeBytes = freeBytesAt(path);
  const free = `${bytesText(freeBytes)} are free on the disk of ${folder}`;
  if (freeBytes < minFreeBytes) {
    return [broken("disk", `Only ${free}.`, "Free some space: writes fail on a full disk.")];
  }
  if (freeBytes < usedBytes + spareBytes) {
    const advice = "Free some space: an erasure, an upgrade, or a backup writes a second file of this size.";
    return [warning("disk", `Only ${free}, and the database takes ${bytesText(usedBytes)}.`, advice)];
  }
  return [fine("disk", `${free}.`)];
}

function checkLog(name: string, bytes: number): Finding {
  if (bytes <= maxLogBytes) {
    return fine("log", bytes === 0 ? "The write-ahead log is empty." : `The write-ahead log has ${bytesText(bytes)}.`);
  }
  const advice = "Restart the server. If the log stays, stop the program that keeps a read transaction open.";
  return warning("log", `The write-ahead log ${name} has grown to ${bytesText(bytes)}.`, advice);
}

function statOf(path: string): Stats | null {
  return statSync(path, { throwIfNoEntry: false }) ?? null;
}

/** Returns whether this user may write to a file or folder. */
export function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    // Whatever prevents the access, a write would fail as well.
    return false;
  }
}
