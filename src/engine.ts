/**
 * How JavaScript's engine is set for a server that stays small. It lets garbage lie in proportion to the memory of the machine,
 * and its last compiler takes 25 MB for a tenth of a second: under hostile requests the server grew by 37 MB, and by 63 for a
 * moment. Told that the machine is small, and without that compiler, it grows by 18 and 22; a deep page costs a
 * twentieth more.
 *
 * The engine reads this before anything of ours, so that the process begins anew, as the same one for whoever started it.
 */
import { environmentWith } from "./config.ts";

const wanted = { BUN_JSC_forceRAMSize: String(160 * 1024 * 1024), BUN_JSC_useFTLJIT: "0" };

/** Begins the process anew unless that was done; to be called before what takes long to load. */
export function setEngine(): void {
  const environment = environmentWith(wanted);
  if (environment === null) return;
  const given = Bun.isStandaloneExecutable ? process.argv.slice(2) : [...process.execArgv, ...process.argv.slice(1)];
  process.execve?.(process.execPath, [process.execPath, ...given], environment);
}
