/** Runs a document like a reader: saves its files, runs its commands, and compares their output with the document. */

import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { aFolder } from "../support/folder.ts";
import { aFreePort } from "../support/free-port.ts";
import { adminCommand, start } from "../support/process.ts";

const root = join(import.meta.dir, "../..");

interface Block {
  /** `sh`, a language and the name of a file, nothing for the output of a command, `text` for an illustration. */
  readonly info: string;
  readonly text: string;
}

/** The fenced blocks of a document, in order. */
export function blocksOf(markdown: string): Block[] {
  return [...markdown.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(([, info = "", text = ""]) => ({ info, text }));
}

/** A folder that is to a command what a clone is, but for its data. */
export function aClone(): string {
  const folder = aFolder();
  for (const name of [
    "src",
    "extensions",
    "packages",
    "drizzle",
    "deploy",
    "node_modules",
    "package.json",
    "bunfig.toml",
    "bun.lock",
    "tsconfig.json",
    "CHANGELOG.md",
  ]) {
    if (existsSync(join(root, name))) symlinkSync(join(root, name), join(folder, name));
  }
  cpSync(join(root, "test/import/samples"), folder, { recursive: true });
  cpSync(join(root, "docs/export.csv"), join(folder, "docs/export.csv"));
  return folder;
}

/** Returns the differences between a document and the output of its commands. */
export async function walk(path: string): Promise<string[]> {
  const folder = aClone();
  const differences: string[] = [];
  let address = "http://127.0.0.1:3000";
  let said = "";
  let server: ReturnType<typeof start> | null = null;
  let goingOn: ReturnType<typeof start> | null = null;
  const receivePort = String(await aFreePort());
  for (const { info, text: written } of blocksOf(readFileSync(join(root, path), "utf8"))) {
    const text = written
      .replaceAll("http://127.0.0.1:3000", address)
      .replaceAll("http://127.0.0.1:3001", `http://127.0.0.1:${receivePort}`)
      .replace("=lf_…", `=${shownKey(said)}`);
    const [language = "", file] = info.split(" ");
    if (file !== undefined) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), text);
    } else if (language === "sh" && /^bun (?:start|run demo)\n$/.test(text)) {
      await server?.end("SIGTERM");
      server = startAs(text, folder);
      address = await begun(server, text);
      said = server.output();
    } else if (language === "sh" && /^bun admin (?:receive|follow) /.test(text)) {
      goingOn = startAdmin(text, folder, receivePort);
    } else if (language === "sh") {
      goingOn = null;
      said = await type(folder, text, receivePort, differences);
    } else if (language === "") {
      await goingOn?.said(patternOf(text));
      differences.push(...differenceOf(text, goingOn?.output() ?? said));
    }
  }
  return differences;
}

function differenceOf(text: string, said: string): string[] {
  return patternOf(text).test(said) ? [] : [`the document says\n${text}but it is\n${said}`];
}

/** The address of a server that has said all that it says at its start. */
async function begun(server: ReturnType<typeof start>, command: string): Promise<string> {
  const address = await server.listening();
  if (command === "bun run demo\n") await server.said(/Press Ctrl-C to stop/);
  return address;
}

/** The servers that a document starts, on a free port. */
function startAs(command: string, folder: string): ReturnType<typeof start> {
  if (command === "bun start\n") return start({ DATABASE_PATH: "data/leadfile.db" }, folder);
  return start({ DATABASE_PATH: "data/demo.db" }, folder, [process.execPath, join(root, "src/demo.ts")]);
}

/** A command that runs until it is stopped. */
function startAdmin(command: string, folder: string, receivePort: string): ReturnType<typeof start> {
  const variables = existsSync(join(folder, ".variables")) ? readFileSync(join(folder, ".variables"), "utf8") : "";
  const [, LEADFILE_KEY = ""] = /LEADFILE_KEY="([^"]*)"/.exec(variables) ?? [];
  const settings = { DATABASE_PATH: "data/leadfile.db", RECEIVE_PORT: receivePort, LEADFILE_KEY };
  const [, , ...args] = command.trim().split(" ");
  return start(settings, folder, [...adminCommand, ...args]);
}

/** The key that a command has shown last; a reader puts it in the place of lf_…. */
const shownKey = (said: string) => /\blf_\w{38}\b/.exec(said)?.[0] ?? "lf_…";

export const pathWithBun = `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`;

/** Types commands into a shell that remembers its variables, and gives all that is said. */
async function type(folder: string, commands: string, receivePort: string, differences: string[]): Promise<string> {
  const state = join(folder, ".variables");
  const script = `exec 2>&1; [ ! -e ${state} ] || . ${state}\n${commands}\nexport -p | grep LEADFILE > ${state} || true`;
  const settings = { PATH: pathWithBun, LC_ALL: "C.UTF-8", RECEIVE_PORT: receivePort };
  const { exited, output } = start(settings, folder, ["bash", "-e", "-c", script]);
  const status = await exited;
  // An import that rejects rows is done, and says so with 3.
  if (status !== 0 && status !== 3) differences.push(`${commands}ended with ${status}: ${output()}`);
  return output().replaceAll("\r", "");
}

/** The arguments of a command of `bun admin`, which may have quotes and nothing else for a shell. */
export function argumentsOf(command: string): string[] {
  const words = command.replace(/^bun admin /, "").match(/(?:"[^"]*"|[^"\s])+/g) ?? [];
  return words.map((word) => word.replaceAll('"', ""));
}

/** A pattern of a text of a document, in which … means any text. */
export function patternOf(text: string): RegExp {
  const parts = text
    .trimEnd()
    .split("…")
    .map((part) => RegExp.escape(part));
  return new RegExp(parts.join("[\\s\\S]*?"));
}
