/** The problems of a store in words: what is wrong, and what the operator does next. */

import { adminCommand } from "../program-name.ts";
import { type Problem, type ProblemKind, StoreError } from "../store/errors.ts";
import { UserError } from "../user-error.ts";

/** Turns a problem of a store into an error in words; gives anything else back as it is. */
export function explain(cause: unknown): unknown {
  return cause instanceof StoreError ? inWords(cause.problem) : cause;
}

/** The sentence and the advice for each problem. */
function inWords<Kind extends ProblemKind>(problem: Problem<Kind>): UserError {
  const [what, advice] = words[problem.kind](problem);
  return new UserError(what, advice);
}

type Words = readonly [what: string, advice: string];

const anotherFile = "Set DATABASE_PATH to another file, or move this one away.";
const aBackup = `Name a file that ${adminCommand} backup has made.`;

const words: { readonly [Kind in ProblemKind]: (problem: Problem<Kind>) => Words } = {
  "not a database": ({ path }) => [`${path} is not a Leadfile database.`, anotherFile],
  "file damaged": ({ path, reason }) => [
    `${path} is damaged (${reason}).`,
    `Keep a copy of it, and put a backup in its place: ${adminCommand} restore FILE. ${adminCommand} doctor looks closer.`,
  ],
  "database of another program": ({ path }) => [`${path} is the database of another program.`, anotherFile],
  "database of a newer version": ({ path }) => [
    `${path} was written by a newer version of Leadfile.`,
    "Install that version or a later one; this one leaves the file as it is.",
  ],
  "database of another build": ({ path }) => [
    `${path} was made by another build of Leadfile, and cannot be brought up to this one.`,
    "Keep the file as it is, export its leads with the build that made it, and import them into a new one.",
  ],
  "locked for too long": ({ path }) => [
    `${path} has been locked by another program for too long.`,
    "End that program and try again.",
  ],
  "disk full": ({ path }) => [`The disk of ${path} is full.`, "Make room and run the command again."],
  "database unusable": ({ path, reason }) => [
    `${path} cannot be opened or written (${reason}).`,
    "Check that the folder exists, that this user may write in it, and that the disk is not full.",
  ],
  "file unreachable": ({ path, reason }) => [
    `${path} cannot be opened (${reason}).`,
    "Set DATABASE_PATH to a file in a folder that this user may write in.",
  ],
  "served by another process": ({ path }) => [
    `${path} is served by another process, or being restored.`,
    "End that first, or set DATABASE_PATH to another file.",
  ],
  "usage not written": ({ reason }) => [
    `The last counts of usage could not be written, and are lost (${reason}).`,
    "See that the disk has room, that no other program keeps the file locked, and that a majority of a cluster runs.",
  ],
  "cluster not heard": ({ reason }) => [
    `No majority of the cluster is heard (${reason}), and nothing is written.`,
    "See that a majority of the nodes runs, and run the command again.",
  ],
  "cluster not written": ({ reason }) => [
    `The cluster has not taken it (${reason}).`,
    "It may come in later: see that a majority of the nodes runs, and run the command again.",
  ],
  "node behind": () => [
    "It is written, but the node beside has not shown it in time.",
    `${adminCommand} cluster status shows how far each node is.`,
  ],
  "nodes differ": () => [
    "The node beside and the leader of the cluster differ: one lacks writes that the other has.",
    `${adminCommand} cluster status names it. Stop it, delete its folder, and start it with -join.`,
  ],
  "node silent": ({ reason }) => [
    `The node at CLUSTER gave no answer (${reason}).`,
    "Start rqlited, or set CLUSTER to the node beside.",
  ],
  "node at work": ({ path }) => [
    `${path} cannot be read now: its node is starting, or has nothing yet.`,
    `Try again in a moment; ${adminCommand} cluster status shows how far each node is.`,
  ],
  "node of another name": ({ name, beside }) => [
    `NODE_NAME is ${name}, but the node at CLUSTER is ${beside}.`,
    "Set NODE_NAME to its -node-id, or CLUSTER to the node whose file is at DATABASE_PATH.",
  ],
  "file of another node": ({ path, beside }) => [
    `${path} is not the file of ${beside}, which is the node at CLUSTER.`,
    "Set DATABASE_PATH to db.sqlite in the folder of that node, or CLUSTER and NODE_NAME to the node of this file.",
  ],
  "file of a node": ({ path }) => [
    `${path} is the file of an rqlite node, which alone may write it.`,
    "Name a file of Leadfile that no cluster has.",
  ],
  "node in use": ({ url }) => [
    `The node at ${url} is not alone and empty.`,
    "Start a node with a new folder and without -join, and begin with that one.",
  ],
  "no such node": ({ name, names }) => [`The cluster has no node ${name}.`, `It has ${names.join(", ")}.`],
  "no majority without": ({ name }) => [
    `Without ${name} no majority of the nodes can be reached, and the cluster would stop.`,
    "Start those that cannot be reached, or let them leave first.",
  ],
  "program missing": ({ program }) => [
    `${program} is not installed.`,
    "Install it: go install go.etcd.io/bbolt/cmd/bbolt@v1.4.3.",
  ],
  "not on a cluster": ({ act }) => [
    `A ${act} does not work on a cluster, whose other nodes serve.`,
    "Make a backup of it as it is, and end all nodes. Without CLUSTER and with another DATABASE_PATH, restore that " +
      "backup, and then the older one over it: what was erased and revoked since stays so. Begin a new cluster with the " +
      `file: ${adminCommand} cluster init FILE.`,
  ],
  "nothing to back up": ({ path }) => [
    `There is no database at ${path}.`,
    "Set DATABASE_PATH to the file that the server uses.",
  ],
  "no such folder": ({ folder }) => [`There is no folder ${folder}.`, "Make it, or name a file in another one."],
  "part of the database": ({ file }) => [`${file} belongs to the database itself.`, "Name another file."],
  "name taken": ({ file }) => [
    `${file} is there already, and a backup never writes over a file.`,
    "Name another file.",
  ],
  "name taken just now": ({ file }) => [`${file} was made by another program just now.`, "Name another file."],
  "disk of the backup full": ({ file }) => [
    `The disk of ${file} is full.`,
    "Make room, or name a file on another disk.",
  ],
  "database damaged": () => [
    "The database is damaged, and a backup of it would be as well.",
    `Restore an earlier backup: ${adminCommand} restore FILE.`,
  ],
  "backup not written": ({ file, reason }) => [
    `${file} cannot be written (${reason}).`,
    "Check the folder, and that this user may write in it.",
  ],
  "no place for a drill": ({ folder, reason }) => [
    `The drill restores the backup beside it, and ${folder} takes nothing (${reason}).`,
    "Copy the backup and its manifest into a folder that this user may write in, and drill the copy.",
  ],

  "manifest unreadable": ({ path, reason }) => [
    `${path} cannot be read (${reason}), and nothing else tells whether the backup is whole.`,
    "Put the manifest that was made with the backup beside it, and see that this user may read both. " +
      `A copy that never had one: look at it with DATABASE_PATH=COPY ${adminCommand} doctor --full, and then make a ` +
      "backup of it in the same way.",
  ],
  "not a manifest": ({ path }) => [
    `${path} is no manifest of a backup.`,
    "Take the one that was made with the backup.",
  ],
  "no such backup": ({ file }) => [`There is no file ${file}.`, aBackup],
  "backup is the database itself": ({ file }) => [`${file} is the database itself.`, aBackup],
  "backup of another size": ({ file, bytes, expected }) => [
    `${file} has ${bytes} bytes, but its manifest says ${expected}.`,
    "It is not whole; take another backup.",
  ],
  "backup of another digest": ({ file }) => [
    `${file} is not what was backed up: its SHA-256 differs.`,
    "It is damaged; take another backup.",
  ],
  "backup damaged": ({ file, reason }) => [`${file} is damaged (${reason}).`, "Take another backup."],
  "not a backup": ({ file }) => [`${file} is not a Leadfile database.`, aBackup],
  "backup of other leads": ({ file, leads, expected }) => [
    `${file} has ${leads} leads, but its manifest says ${expected}.`,
    "Take another backup.",
  ],

  "receipts unreadable": ({ path }) => [
    `${path} cannot be read.`,
    "Give --receipts a file with one receipt a line, as lead erase prints it.",
  ],
  "not a receipt": ({ path, line }) => [
    `Line ${line} of ${path} is no receipt.`,
    "One receipt stands on each line, as lead erase prints it.",
  ],
  "receipt of another instance": ({ erasedAt }) => [
    `The receipt of ${erasedAt} was made with a key that this backup does not have.`,
    "Take a backup of the same instance, or leave the receipt out and erase the person again.",
  ],

  "database in use": ({ path }) => [
    `${path} is open in a server or another program.`,
    "Stop it, then restore: a server would go on serving the old file.",
  ],
  "disk too full to restore": ({ path }) => [
    `The disk of ${path} is full.`,
    "A restore needs room for a second file; nothing has changed.",
  ],
  "restore failed": ({ path, reason }) => [
    `The restore failed (${reason}).`,
    `${path} is as it was; check its folder and the backup.`,
  ],
  "restored other rows": ({ file, table, found, expected }) =>
    drillFailed(file, `it has ${found} ${table}, and ${expected} were backed up`),
  "restored other content": ({ file }) => drillFailed(file, "its content has another digest than what was backed up"),
};

function drillFailed(file: string, why: string): Words {
  return [`The drill failed: ${file} was restored, but ${why}.`, "Make a new backup, and drill that."];
}
