/** A disk that keeps what was synced, and of the rest whatever chance leaves, when the power goes. */
import { dirname } from "node:path";
import type { Random } from "../../../random.ts";
import type { Stroke } from "./strokes.ts";

type Change = Extract<Stroke, { kind: "write" | "truncate" }>;
type Entry = Extract<Stroke, { kind: "create" | "unlink" | "rename" }>;

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

export function createDisk(contents: ReadonlyMap<string, Buffer>) {
  const files = new Map<string, File>([...contents].map(([path, bytes]) => [path, { bytes, pending: [] }]));
  /** Names as they are, and as they are safe. */
  const named = new Map<string, File>(files);
  let safeNames = new Map<string, File>(files);
  let pendingEntries: Entry[] = [];

  function enter(names: Map<string, File>, entry: Entry, file: File | undefined): void {
    if (entry.kind === "create") {
      if (file !== undefined && !names.has(entry.path)) names.set(entry.path, file);
      return;
    }
    const moved = names.get(entry.path);
    names.delete(entry.path);
    if (entry.kind === "rename" && moved !== undefined) names.set(entry.to, moved);
  }

  const created = new Map<Entry, File>();

  return {
    apply(stroke: Stroke): void {
      switch (stroke.kind) {
        case "said":
          return;
        case "write":
        case "truncate":
          named.get(stroke.path)?.pending.push(stroke);
          return;
        case "sync": {
          const file = named.get(stroke.path);
          if (file !== undefined) {
            file.bytes = file.pending.reduce(change, file.bytes);
            file.pending = [];
          } else if ([...named.keys(), ...safeNames.keys()].some((path) => dirname(path) === stroke.path)) {
            safeNames = new Map(named);
            pendingEntries = [];
          }
          return;
        }
        default: {
          if (stroke.kind === "create" && named.has(stroke.path)) return;
          const file = { bytes: Buffer.alloc(0), pending: [] };
          if (stroke.kind === "create") created.set(stroke, file);
          pendingEntries.push(stroke);
          enter(named, stroke, file);
        }
      }
    },
    /** The files as they are found when the power comes back. */
    cut(random: Random, loss: Loss): Map<string, Buffer> {
      const names = new Map(safeNames);
      const kept =
        loss === "nothing" ? pendingEntries.length : loss === "all of it" ? 0 : random.below(pendingEntries.length + 1);
      // A file system keeps the order of its names.
      for (const entry of pendingEntries.slice(0, kept)) enter(names, entry, created.get(entry));
      return new Map([...names].map(([path, { bytes, pending }]) => [path, survive(bytes, pending, random, loss)]));
    },
  };
}

function change(bytes: Buffer, stroke: Change): Buffer {
  if (stroke.kind === "truncate") {
    const cut = Buffer.alloc(stroke.size);
    bytes.copy(cut);
    return cut;
  }
  const end = stroke.offset + stroke.bytes.length;
  const changed = Buffer.alloc(Math.max(bytes.length, end));
  bytes.copy(changed);
  stroke.bytes.copy(changed, stroke.offset);
  return changed;
}

function survive(bytes: Buffer, pending: readonly Change[], random: Random, loss: Loss): Buffer {
  if (loss === "all of it") return bytes;
  if (loss === "nothing") return pending.reduce(change, bytes);
  const some = pending.filter(() => random.below(2) === 0);
  if (loss === "some writes") return some.reduce(change, bytes);
  return some.flatMap((stroke) => parts(stroke, random)).reduce(change, bytes);
}

function parts(stroke: Change, random: Random): Change[] {
  if (stroke.kind === "truncate") return [stroke];
  const sectors: Change[] = [];
  for (let start = 0; start < stroke.bytes.length; start += sectorBytes) {
    const piece = stroke.bytes.subarray(start, start + sectorBytes);
    if (random.below(2) === 0) sectors.push({ ...stroke, offset: stroke.offset + start, bytes: piece });
  }
  return sectors;
}
