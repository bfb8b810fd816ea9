/** A disk that keeps what was synced, and of the rest whatever chance leaves, when the power goes. */
import { dirname } from "node:path";
import type { Random } from "../../../random.ts";
import type { Operation } from "./operations.ts";

type Change = Extract<Operation, { kind: "write" | "truncate" }>;
type Entry = Extract<Operation, { kind: "create" | "unlink" | "rename" }>;

interface File {
  /** The synced content. */
  bytes: Buffer;
  /** The changes since the last sync. */
  pending: Change[];
}

/** The random losses of unsynced changes. */
export const losses = ["all of it", "nothing", "some writes", "parts of writes"] as const;
export type Loss = (typeof losses)[number];

/** A drive writes sectors, not what programs call a write. */
const sectorBytes = 512;

type Names = Map<string, File>;

export function createDisk(contents: ReadonlyMap<string, Buffer>) {
  /** Names as they are, and as they are safe. */
  const named: Names = new Map([...contents].map(([path, bytes]) => [path, { bytes, pending: [] }]));
  let safeNames: Names = new Map(named);
  /** The changes of names since their last sync. */
  let pendingEntries: ((names: Names) => void)[] = [];

  function sync(path: string): void {
    const file = named.get(path);
    if (file !== undefined) {
      file.bytes = changed(file.bytes, file.pending);
      file.pending = [];
    } else if ([...named.keys(), ...safeNames.keys()].some((name) => dirname(name) === path)) {
      safeNames = new Map(named);
      pendingEntries = [];
    }
  }

  return {
    apply(operation: Operation): void {
      if (operation.kind === "said") return;
      if (operation.kind === "write" || operation.kind === "truncate")
        named.get(operation.path)?.pending.push(operation);
      else if (operation.kind === "sync") sync(operation.path);
      else if (operation.kind !== "create" || !named.has(operation.path)) {
        const enter = entryOf(operation);
        pendingEntries.push(enter);
        enter(named);
      }
    },
    /** The files as they are found when the power comes back. */
    cut(random: Random, loss: Loss): Map<string, Buffer> {
      const names = new Map(safeNames);
      const kept =
        loss === "nothing" ? pendingEntries.length : loss === "all of it" ? 0 : random.below(pendingEntries.length + 1);
      // A file system keeps the order of its names.
      for (const enter of pendingEntries.slice(0, kept)) enter(names);
      return new Map([...names].map(([path, { bytes, pending }]) => [path, survive(bytes, pending, random, loss)]));
    },
  };
}

/** Returns what an operation does to names. */
function entryOf(operation: Entry): (names: Names) => void {
  const created: File = { bytes: Buffer.alloc(0), pending: [] };
  return (names) => {
    if (operation.kind === "create") return void names.getOrInsert(operation.path, created);
    const moved = names.get(operation.path);
    names.delete(operation.path);
    if (operation.kind === "rename" && moved !== undefined) names.set(operation.to, moved);
  };
}

/** Returns bytes after some changes. */
function changed(bytes: Buffer, changes: readonly Change[]): Buffer {
  const sizeAfter = (one: Change) => (one.kind === "truncate" ? one.size : one.offset + one.bytes.length);
  const room = Buffer.alloc(changes.reduce((size, one) => Math.max(size, sizeAfter(one)), bytes.length));
  bytes.copy(room);
  let size = bytes.length;
  for (const one of changes) {
    if (one.kind === "write") one.bytes.copy(room, one.offset);
    // What was cut off reads as zeros if the file grows again.
    else room.fill(0, one.size);
    size = one.kind === "write" ? Math.max(size, sizeAfter(one)) : one.size;
  }
  return room.subarray(0, size);
}

function survive(bytes: Buffer, pending: readonly Change[], random: Random, loss: Loss): Buffer {
  if (loss === "all of it") return bytes;
  if (loss === "nothing") return changed(bytes, pending);
  const some = pending.filter(() => random.below(2) === 0);
  if (loss === "some writes") return changed(bytes, some);
  return changed(
    bytes,
    some.flatMap((operation) => parts(operation, random)),
  );
}

function parts(operation: Change, random: Random): Change[] {
  if (operation.kind === "truncate") return [operation];
  const sectors: Change[] = [];
  for (let start = 0; start < operation.bytes.length; start += sectorBytes) {
    const piece = operation.bytes.subarray(start, start + sectorBytes);
    if (random.below(2) === 0) sectors.push({ ...operation, offset: operation.offset + start, bytes: piece });
  }
  return sectors;
}
