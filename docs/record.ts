/**
 * bun run record: types the first five minutes into a real terminal, and draws what it shows as docs/images/first-minutes.svg.
 * Another path may be given. Nothing is made up: each command runs, in a folder of its own.
 */
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { drawing, type Scene } from "./recording.ts";

const root = join(import.meta.dir, "..");
const columns = 80;

interface Step {
  readonly command: string;
  /** What the terminal shows when it has shown enough of a command that goes on. */
  readonly until?: RegExp;
  /** The answer to the question that the command asks. */
  readonly answer?: string;
}

const scenes: readonly Step[] = [
  { command: "bun admin account create acme" },
  { command: "bun admin lead import acme export.csv --create-pixels", answer: "y" },
  { command: 'bun admin key create acme --label "my first client" > key.txt' },
  { command: "bun admin key list acme" },
  { command: "bun start", until: /listening on \S+/ },
  {
    command:
      'curl -s -H "Authorization: Bearer $(cat key.txt)" "http://127.0.0.1:3000/api/v1/leads?limit=1&state=CA"; echo',
  },
  { command: "bun admin demo --live --every 1 --seed 7 > demo.txt", until: /(?:[^\n]* from [^\n]*\n){5}/ },
];

/** The port of the server is a free one; what is shown has the usual one. */
let port = "3000";

const folder = mkdtempSync(join(tmpdir(), "leadfile-recording-"));
const running: Bun.Subprocess[] = [];
try {
  for (const name of ["src", "drizzle", "node_modules", "package.json", "bunfig.toml", "CHANGELOG.md"]) {
    symlinkSync(join(root, name), join(folder, name));
  }
  cpSync(join(root, "docs/export.csv"), join(folder, "export.csv"));
  const recorded: Scene[] = [];
  for (const step of scenes) recorded.push({ command: step.command, shown: await run(step) });
  writeFileSync(Bun.argv[2] ?? join(root, "docs/images/first-minutes.svg"), drawing(recorded, columns));
} finally {
  // As a person ends them; whatever ignores that is not waited for.
  for (const child of running) child.terminal?.write("\u0003");
  await Promise.race([Promise.all(running.map((child) => child.exited)), Bun.sleep(5_000)]);
  for (const child of running) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
}

/** Runs a command on a terminal until it ends, or until it has shown enough; gives what the terminal shows. */
async function run({ command, until, answer }: Step): Promise<string> {
  let shown = "";
  let isAnswered = answer === undefined;
  const enough = Promise.withResolvers<void>();
  const decoder = new TextDecoder();
  const child = Bun.spawn(["bash", "-c", command.replaceAll(":3000", `:${port}`)], {
    cwd: folder,
    env: {
      PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`,
      HOME: folder,
      TERM: "xterm-256color",
      LOG_LEVEL: "warn",
      PORT: "0",
      BASE_URL: "http://127.0.0.1:3000",
    },
    terminal: {
      cols: columns,
      rows: 30,
      data(terminal, bytes) {
        shown += decoder.decode(bytes, { stream: true });
        if (!isAnswered && shown.includes("[y/N]")) {
          isAnswered = true;
          terminal.write(`${answer}\n`);
        }
        if (until?.test(shown)) enough.resolve();
      },
    },
  });
  running.push(child);
  await Promise.race([child.exited.then(() => Bun.sleep(100)), enough.promise]);
  // What comes after enough is chance.
  const found = until?.exec(shown);
  if (found) shown = shown.slice(0, found.index + found[0].length);
  port = /listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(shown)?.[1] ?? port;
  return shown.replaceAll(`127.0.0.1:${port}`, "127.0.0.1:3000").replaceAll("\r", "");
}
