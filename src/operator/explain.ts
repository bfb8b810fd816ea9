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
};
