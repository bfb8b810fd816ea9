/** The file operations of a program, recorded by strace. */
import { readFileSync } from "node:fs";

export type Operation =
  | { readonly kind: "write"; readonly path: string; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: "truncate"; readonly path: string; readonly size: number }
  | { readonly kind: "create"; readonly path: string }
  | { readonly kind: "unlink"; readonly path: string }
  | { readonly kind: "rename"; readonly path: string; readonly to: string }
  /** All earlier operations on the file, or the entries of the folder, are synced. */
  | { readonly kind: "sync"; readonly path: string }
  /** Something was said on standard output. */
  | { readonly kind: "said" };

/** The command that records a program. */
export const recorder = (trace: string): string[] => [
  "strace",
  ...["-f", "--seccomp-bpf", "-y", "-xx", "-s", "1048576", "-o", trace],
  ...["-e", "trace=openat,write,pwrite64,pwritev,ftruncate,fallocate,unlink,unlinkat,rename,renameat2,fsync,fdatasync"],
];

/** The reason why programs cannot be recorded here; null if they can. */
export function missingRecorder(): string | null {
  if (Bun.which("strace") === null) return "strace is not installed";
  const tried = Bun.spawnSync(["strace", "-o", "/dev/null", "true"]);
  return tried.exitCode === 0 ? null : "strace may not trace here";
}

const hex = (name: string) => `(?<${name}>(?:\\\\x[0-9a-f]{2})*)`;
const file = `\\d+<${hex("path")}(?:>\\(deleted\\)|>)`;

/** The patterns of successful system calls. Their groups are the properties of the operation. */
const readers: readonly (readonly [kind: Operation["kind"], pattern: RegExp])[] = [
  ["write", new RegExp(`^pwrite64\\(${file}, "${hex("bytes")}", \\d+, (?<offset>\\d+)\\) += \\d+$`)],
  ["truncate", new RegExp(`^ftruncate\\(${file}, (?<size>\\d+)\\) += 0$`)],
  ["sync", new RegExp(`^f(?:data)?sync\\(${file}\\) += 0$`)],
  ["create", new RegExp(`^openat\\([^ ]+, "${hex("path")}", [A-Z_|]*O_CREAT[A-Z_|]*, \\d+\\) += \\d+<`)],
  ["unlink", new RegExp(`^unlink(?:at)?\\((?:[^ "]+, )?"${hex("path")}"(?:, 0)?\\) += 0$`)],
  ["rename", new RegExp(`^rename\\("${hex("path")}", "${hex("to")}"\\) += 0$`)],
  ["said", /^write\(1<.* = \d+$/],
];

/** Reads a recording; throws when the files of interest were touched in a way that it does not understand. */
export function readOperations(trace: string, isOfInterest: (path: string) => boolean): Operation[] {
  const operations: Operation[] = [];
  for (const call of wholeCalls(readFileSync(trace, "latin1"))) {
    const operation = readCall(call);
    if (operation === null) refuseUnknown(call, isOfInterest);
    else if (operation.kind === "said" || isOfInterest(operation.path)) operations.push(operation);
  }
  return operations;
}

function readCall(call: string): Operation | null {
  for (const [kind, pattern] of readers) {
    const match = pattern.exec(call);
    if (match === null) continue;
    const { path = "", to = "", bytes = "", offset, size } = match.groups ?? {};
    const texts = { path: decode(path).toString(), to: decode(to).toString() };
    return { kind, ...texts, bytes: decode(bytes), offset: Number(offset), size: Number(size) };
  }
  return null;
}

/** A way of writing that is not read would make every result worthless. */
function refuseUnknown(call: string, isOfInterest: (path: string) => boolean): void {
  if (!/^(?:write|pwritev|fallocate|renameat2)\(.* = \d+$/.test(call)) return;
  const path = /^\w+\(\d+<((?:\\x[0-9a-f]{2})*)>/.exec(call)?.[1];
  if (path !== undefined && isOfInterest(decode(path).toString()))
    throw new Error(`not understood: ${call.slice(0, 80)}`);
}

/** Calls of several threads are cut in two where one came between. */
export function* wholeCalls(trace: string): Generator<string> {
  const begun = new Map<string, string>();
  for (const line of trace.split("\n")) {
    const [, thread = "", said = ""] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (said.endsWith("<unfinished ...>")) begun.set(thread, said.slice(0, -"<unfinished ...>".length).trimEnd());
    else {
      const rest = /^<\.\.\. \w+ resumed>(.*)$/.exec(said)?.[1];
      yield rest === undefined ? said : (begun.get(thread) ?? "") + rest;
    }
  }
}

function decode(hex: string): Buffer {
  return Buffer.from(hex.replaceAll("\\x", ""), "hex");
}
