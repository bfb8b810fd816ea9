/** The receivers in an attack on follow: a file, a command, or a webhook. All append to one log, and can be killed. */
import { appendFileSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { holdsWithin } from "../../../../test/support/eventually.ts";

export const ways = ["file", "command", "webhook"] as const;
export type Way = (typeof ways)[number];

const ledger = "taken.ndjson";

/** The file with all received leads, one per line. */
export const ledgerIn = (folder: string) => join(folder, ledger);

export function createReceiver(folder: string) {
  writeFileSync(ledgerIn(folder), "");
  const breaks = (when: string) => join(folder, `break-${when}`);
  const isToBreak = (when: string) => {
    const told = existsSync(breaks(when));
    if (told) rmSync(breaks(when));
    return told;
  };
  let webhook = listen(0);
  function listen(port: number) {
    return Bun.serve({ port, hostname: "127.0.0.1", fetch: take });
  }
  async function take(request: Request): Promise<Response> {
    const lead = await request.text();
    if (isToBreak("before")) return end();
    appendFileSync(ledgerIn(folder), `${lead}\n`);
    return isToBreak("after") ? end() : new Response(null, { status: 204 });
  }
  /** Closes all connections, and listens again at once. */
  function end(): Promise<Response> {
    const { port } = webhook;
    void webhook.stop(true);
    webhook = listen(port ?? 0);
    return new Promise(() => undefined);
  }
  const dies = (when: string) => `if [ -e break-${when} ]; then rm break-${when}; kill -9 $$; fi`;
  const argsFor: Readonly<Record<Way, readonly string[]>> = {
    file: [],
    command: ["--exec", `${dies("before")}; cat >> ${ledger}; ${dies("after")}`],
    webhook: ["--post", webhook.url.href],
  };
  return {
    /** Returns the arguments with which follow delivers leads in one of the ways. All ways share a checkpoint. */
    follow: (way: Way) => ({
      // All leads are within an hour of each other: a longer overlap would put all of them into each checkpoint.
      args: ["--checkpoint", "checkpoint", "--every", "20ms", "--overlap", "20ms", ...argsFor[way]],
      output: way === "file" ? ledgerIn(folder) : "/dev/null",
      settings: { LEADFILE_POST_SECRET: "a secret that both ends know" },
    }),
    /** Kills the command or the webhook at the next lead, before or after that is in the ledger. */
    breakNext: (when: "before" | "after") => writeFileSync(breaks(when), ""),
    /** Waits until that has happened, for a limited time. */
    broken: (maxMs: number) =>
      holdsWithin(maxMs, () => !existsSync(breaks("before")) && !existsSync(breaks("after")), 1),
    stop: () => void webhook.stop(true),
  };
}
