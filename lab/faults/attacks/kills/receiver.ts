/** The receivers in an attack on follow: a file, a command, or a webhook, all with one log, which can be killed. */
import { appendFileSync, closeSync, existsSync, openSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface Receiver {
  /** The arguments of follow. */
  readonly args: Readonly<Record<Way, readonly string[]>>;
  /** Kills the command or the webhook at the next lead, before or after that is in the ledger. */
  breakNext(when: "before" | "after"): void;
  /** Waits until that has happened, or no longer than so. */
  broken(maxMs: number): Promise<void>;
  stop(): void;
}

export const ways = ["file", "command", "webhook"] as const;
export type Way = (typeof ways)[number];

interface Followed {
  readonly build: string;
  readonly folder: string;
  readonly key: string;
  readonly url: string;
  readonly way: Way;
  /** The arguments for that way. */
  readonly args: readonly string[];
}

const secret = "a secret that both ends know";
const ledger = "taken.ndjson";

/** The file with all received leads, one per line. */
export const ledgerIn = (folder: string) => join(folder, ledger);

export function createReceiver(folder: string): Receiver {
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
  /** Cuts all connections, and is there again at once. */
  function end(): Promise<Response> {
    const { port } = webhook;
    void webhook.stop(true);
    webhook = listen(port ?? 0);
    return new Promise(() => undefined);
  }
  const dies = (when: string) => `if [ -e break-${when} ]; then rm break-${when}; kill -9 $$; fi`;
  return {
    args: {
      file: [],
      command: ["--exec", `${dies("before")}; cat >> ${ledger}; ${dies("after")}`],
      webhook: ["--post", webhook.url.href],
    },
    breakNext: (when) => writeFileSync(breaks(when), ""),
    async broken(maxMs) {
      const isToCome = () => existsSync(breaks("before")) || existsSync(breaks("after"));
      for (const endMs = performance.now() + maxMs; isToCome() && performance.now() < endMs; ) await Bun.sleep(1);
    },
    stop: () => void webhook.stop(true),
  };
}

/** Starts follow of a build with one checkpoint for all ways; what it has taken stands in the ledger. */
export function startFollow({ build, folder, key, url, way, args }: Followed) {
  const output = openSync(way === "file" ? ledgerIn(folder) : "/dev/null", "a");
  // Leads of a day would all be within an hour: a checkpoint of them all, each time, is not what is looked at here.
  const how = ["--checkpoint", "checkpoint", "--every", "20ms", "--overlap", "20ms", ...args];
  const child = Bun.spawn([process.execPath, join(build, "src/admin.ts"), "follow", url, ...how], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", HOME: folder, LEADFILE_KEY: key, LEADFILE_POST_SECRET: secret },
    stdin: "ignore",
    stdout: output,
    stderr: "ignore",
  });
  closeSync(output);
  return child;
}
