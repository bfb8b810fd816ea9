/** What takes leads in an attack on follow: a file, a command or a webhook, all with one ledger, which can be killed. */
import { appendFileSync, closeSync, existsSync, openSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface Receiver {
  /** How follow is started: what it is told, and what its standard output is. */
  readonly ways: readonly [Way, ...Way[]];
  /** Kills the command or the webhook at the next lead, before or after that is in the ledger. */
  breakNext(when: "before" | "after"): void;
  stop(): void;
}

export interface Way {
  readonly name: "file" | "command" | "webhook";
  readonly args: readonly string[];
}

interface Followed {
  readonly build: string;
  readonly folder: string;
  readonly key: string;
  readonly url: string;
  readonly way: Way;
}

const secret = "a secret that both ends know";
const ledger = "taken.ndjson";

/** Where everything that was taken stands, a line a lead. */
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
    ways: [
      { name: "file", args: [] },
      { name: "command", args: ["--exec", `${dies("before")}; cat >> ${ledger}; ${dies("after")}`] },
      { name: "webhook", args: ["--post", webhook.url.href] },
    ],
    breakNext: (when) => writeFileSync(breaks(when), ""),
    stop: () => void webhook.stop(true),
  };
}

/** Starts follow of a build with one checkpoint for all ways; what it has taken stands in the ledger. */
export function startFollow({ build, folder, key, url, way }: Followed) {
  const output = openSync(way.name === "file" ? ledgerIn(folder) : "/dev/null", "a");
  // Leads of a day would all be within an hour: a checkpoint of them all, each time, is not what is looked at here.
  const args = ["follow", url, "--checkpoint", "checkpoint", "--every", "100ms", "--overlap", "20ms", ...way.args];
  const child = Bun.spawn([process.execPath, join(build, "src/admin.ts"), ...args], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", HOME: folder, LEADFILE_KEY: key, LEADFILE_POST_SECRET: secret },
    stdin: "ignore",
    stdout: output,
    stderr: "ignore",
  });
  closeSync(output);
  return child;
}
