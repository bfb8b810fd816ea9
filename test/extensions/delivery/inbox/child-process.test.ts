/** bun start with INBOX: the inbox is a child process, which ends with the server. */
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { childrenOf, filesOfThreads } from "../../../../lab/faults/product/process-state.ts";
import { anAdmin } from "../../../support/admin.ts";
import { eventually } from "../../../support/eventually.ts";
import { start } from "../../../support/process.ts";
import { fillInbox } from "./an-inbox.ts";

/** A server whose inbox has a folder for acme. */
async function withInbox() {
  const admin = anAdmin();
  const inbox = join(admin.folder, "inbox");
  mkdirSync(join(inbox, "acme"), { recursive: true });
  writeFileSync(join(inbox, "acme/import.json"), `{"pixel":"px_shop"}`);
  await admin.run("pixel", "create", "acme", "--id", "px_shop");
  const server = start({ DATABASE_PATH: admin.file, INBOX: inbox, LOG_LEVEL: "error" }, admin.folder);
  const url = await server.listening();
  const drop = (name: string) => fillInbox(admin, { [`acme/${name}`]: `email\n${name}@example.com\n` });
  const isDone = (name: string) => expect(existsSync(join(inbox, "acme/done", name))).toBe(true);
  return { admin, inbox, server, url, drop, isDone };
}

/** The one process that another one has started. */
function childOf(pid: number): number {
  const [child, ...more] = childrenOf(pid);
  expect(more).toEqual([]);
  return child ?? expect.unreachable("no process was started");
}

/** The priorities of all threads of a process: 0 is the usual one, more is less. */
function prioritiesOf(pid: number): number[] {
  return filesOfThreads(pid, "stat").map((line) => Number(line.slice(line.lastIndexOf(")") + 2).split(" ")[16]));
}

test("a dropped file is imported by a process of low priority, which is started again, and ends with the server", async () => {
  const { admin, inbox, server, url, drop, isDone } = await withInbox();
  drop("a.csv");
  await eventually(async () => isDone("a.csv"));
  expect(new Set(prioritiesOf(childOf(server.pid)))).toEqual(new Set([10]));
  expect((await admin.leads()).map(({ email }) => email)).toEqual(["a.csv@example.com"]);
  for (const [signal, status, file] of [
    ["SIGKILL", 137, "b.csv"],
    ["SIGTERM", 0, "c.csv"],
  ] as const) {
    process.kill(childOf(server.pid), signal);
    drop(file);
    await eventually(async () => isDone(file));
    expect(server.output()).toContain(`inbox ended with ${status}; it is restarted in `);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  }
  expect(await server.end("SIGTERM")).toBe(0);
  expect((await admin.run("inbox", inbox, "--once")).status).toBe(0);
});

test("an inbox ends when its server is killed", async () => {
  const { admin, inbox, server } = await withInbox();
  await server.end("SIGKILL");
  await eventually(async () => expect((await admin.run("inbox", inbox, "--once")).status).toBe(0));
});

test("a missing folder stops the start in one line", async () => {
  const { exited, errors } = start({ INBOX: "/nowhere/inbox" });
  expect(await exited).toBe(2);
  expect(errors()).toBe(
    `INBOX is "/nowhere/inbox", but it takes an existing folder, with a folder for each account in it.\n`,
  );
});
