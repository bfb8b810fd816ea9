/** Leads to a command: a new process for each, the lead on its standard input, taken when its status is 0. */

import { UserError } from "../../../src/user-error.ts";
import type { Lead } from "../src/leadfile.ts";
import { failed, type Receiver, taken } from "./receiver.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** A command of the shell as a receiver. It sees this environment; what it writes goes where ours goes. */
export function command(line: string, environment: Environment): Receiver {
  return {
    async take(lead) {
      const child = run(line, lead, environment);
      const status = await child.exited;
      const end = child.signalCode === null ? `with status ${status}` : `by ${child.signalCode}`;
      return status === 0 ? taken : failed(`The command ended ${end}.`);
    },
  };
}

function run(line: string, lead: Lead, environment: Environment) {
  try {
    return Bun.spawn(["/bin/sh", "-c", line], {
      env: environment,
      stdin: Buffer.from(`${JSON.stringify(lead)}\n`),
      stdout: "inherit",
      stderr: "inherit",
    });
  } catch {
    throw new UserError("--exec needs /bin/sh, which could not be started here.", "--post needs no shell.");
  }
}
