/** Tests that need programs which not every machine has: there they are skipped, and their names say what is missing. */
import { test } from "bun:test";

const isHere = (program: string): boolean =>
  program === "root" ? process.getuid?.() === 0 : Bun.which(program) !== null;

/** Makes tests that need these programs, or to be root. */
export function needing(...programs: readonly string[]) {
  const missing = programs.filter((program) => !isHere(program));
  const note = missing.length === 0 ? "" : ` (skipped: no ${missing.join(", no ")} here)`;
  return (name: string, body: () => Promise<void> | void) => test.skipIf(missing.length > 0)(name + note, body);
}
