/** The flags of what is run by hand: --help shows the usage, and a wrong flag is refused in one line. */
import { writeSync } from "node:fs";

interface Usage {
  /** As one types it, such as `bun run bench`. */
  readonly command: string;
  readonly usage: string;
}

/** Returns the options of the flags. Otherwise prints the usage, or which flag is wrong, and ends the process. */
export function readFlags<Asked>({ command, usage }: Usage, read: (args: string[]) => Asked): Asked {
  const args = process.argv.slice(2);
  if (args.includes("--help")) {
    writeSync(1, usage);
    process.exit(0);
  }
  try {
    return read(args);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    writeSync(2, `${message.replace(/\.?$/, ".")} ${command} --help shows what there is.\n`);
    process.exit(2);
  }
}

/** A whole number from 1 on; throws an Error that names the flag. */
export function readCount(flag: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new Error(`${flag} takes a whole number from 1 on, not ${JSON.stringify(text)}.`);
  return Number(text);
}
