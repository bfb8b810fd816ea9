/** Tests that need what not every machine has: there they are skipped, and their names say why. No other file skips a test. */
import { describe, test } from "bun:test";
import { existsSync } from "node:fs";

/** Makes tests that need programs, `requests` of Python, a file such as /dev/full, to be `root`, or that root may `mount` disks. */
export const needing = (...needs: readonly string[]) => unless(missingHere(...needs));

/** Says which of some needs this machine lacks. Null if it has them all. */
export function missingHere(...needs: readonly string[]): string | null {
  const missing = needs.filter((need) => !isHere(need));
  return missing.length === 0 ? null : `no ${missing.join(", no ")} here`;
}

/** Makes tests that are skipped for a reason. Null runs them. */
export function unless(reason: string | null) {
  const isSkipped = reason !== null;
  const named = (name: string) => (isSkipped ? `${name} (skipped: ${reason})` : name);
  const make = (name: string, body: () => Promise<void> | void, timeoutMs?: number) =>
    test.skipIf(isSkipped)(named(name), body, timeoutMs);
  return Object.assign(make, {
    describe: (name: string, body: () => void) => describe.skipIf(isSkipped)(named(name), body),
    // The types of a table are Bun's own.
    each: ((rows: unknown[]) => (name: string, body: () => void, timeoutMs?: number) =>
      test.skipIf(isSkipped).each(rows)(named(name), body, timeoutMs)) as typeof test.each,
  });
}

function isHere(need: string): boolean {
  if (need === "root") return process.getuid?.() === 0;
  if (need === "mount") return mayMount();
  if (need === "requests") return Bun.spawnSync(["python3", "-c", "import requests"]).exitCode === 0;
  if (need === "php") return Bun.which("php") !== null && Bun.spawnSync(["php", "-r", "curl_init();"]).exitCode === 0;
  return need.startsWith("/") ? existsSync(need) : Bun.which(need) !== null;
}

function mayMount(): boolean {
  const script = "d=$(mktemp -d); mount -t tmpfs -o size=16k none $d && umount $d; e=$?; rmdir $d; exit $e";
  return Bun.spawnSync(["sh", "-c", script]).exitCode === 0;
}
