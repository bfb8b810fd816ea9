/** An import that is stopped while its leads are written: the leads that stay, the messages, and how to complete it. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { anAdmin } from "../support/admin.ts";
import { onTerminal, plain } from "../support/terminal.ts";
import { betweenTransactions } from "../support/write-lock.ts";

const many = 8_000;
function aLargeImport(more = "") {
  const admin = anAdmin();
  const rows = Array.from({ length: many }, (_, n) => `2026-01-31,px,d${n}@example.com\n`);
  const file = admin.put("export.csv", `date,pixel_id,email\n${rows.join("")}${more}`);
  return { admin, args: ["lead", "import", "acme", file, "--create-pixels"] };
}

test("Ctrl-C ends a dry run, which shows its progress, without a lead", async () => {
  const { admin, args } = aLargeImport();
  const terminal = onTerminal(admin.file, [...args, "--dry-run"]);
  await Promise.race([terminal.seen(/Writing +\S+ [1-9]\d?%/), terminal.ended]);
  terminal.type("\u0003");
  expect(await terminal.ended).toBe(130);
  expect(plain(terminal.shown())).toContain("Stopped before the first lead was written. Nothing was imported.");
  expect(await admin.leads()).toEqual([]);
});

test("Ctrl-C reports the progress, and running the import again completes it", async () => {
  const { admin, args } = aLargeImport();
  const said =
    /Stopped after ([\d,]+) of 8,000 leads\. They are kept\. Run the command again to complete it.* import undo/.exec(
      await stoppedByHand(admin.file, args),
    );
  const stayed = Number(said?.[1]?.replaceAll(",", ""));
  expect((await admin.leads()).length).toBe(stayed);
  const again = await admin.run(...args, "--json");
  expect({ ...again.json, status: again.status }).toMatchObject({
    status: 0,
    imported: many - stayed,
    duplicates: stayed,
  });
  const replacing = await stoppedByHand(admin.file, [...args, "--on-duplicate", "replace"], false);
  expect(replacing).toMatch(/complete it\. It replaced [\d,]+ leads of other imports and cannot be undone\./);
  expect(replacing).not.toContain("import undo");
});

test("a closed terminal ends an import in an orderly way", async () => {
  const { admin, args } = aLargeImport();
  const terminal = onTerminal(admin.file, args);
  await acceptFirst(terminal);
  await untilSomeAreIn(admin.file, terminal.ended, terminal.close);
  expect(await terminal.ended).toBe(129);
});

test("a killed import keeps its rejected rows, and is listed as unfinished until its file is imported again", async () => {
  const { admin, args } = aLargeImport("never,px,dana@example.com\n");
  const rejects = join(admin.folder, "rejects.csv");
  const child = admin.start(...args, "--rejects", rejects);
  await untilSomeAreIn(admin.file, child.exited, () => child.end("SIGKILL"));
  await child.exited;
  expect(readFileSync(rejects, "utf8")).toContain("never,px,dana@example.com");
  const cut = await admin.run("import", "list", "acme");
  expect(cut.stdout).toMatch(/^1 .* not finished .*export\.csv$/m);
  expect(cut.stderr).toMatch(/^Import 1 is not finished\. .*import its file again to complete it\.\n$/);
  expect((await admin.run(...args)).status).toBe(3);
  const { json, stderr } = await admin.run("import", "list", "acme", "--json");
  expect(json).toMatchObject([
    { import: 2, state: "done", finished_at: expect.any(String) },
    { import: 1, state: "not finished", finished_at: null },
  ]);
  expect(stderr).toBe("");
});

/** Stops an import as soon as some of the leads are in. Until it is told to stop, it waits to write more. */
async function untilSomeAreIn(file: string, ended: Promise<number>, stop: () => unknown): Promise<void> {
  for await (const { leads } of betweenTransactions(file, ended)) {
    if (leads === 0) continue;
    await stop();
    return;
  }
}

/** The first import of an account is shown, and asked about. */
async function acceptFirst(terminal: ReturnType<typeof onTerminal>): Promise<void> {
  await terminal.seen(/Import the file as shown\?/);
  terminal.type("y\r");
}

/** Types Ctrl-C as soon as some of the leads are in, and gives what was shown. */
async function stoppedByHand(file: string, args: readonly string[], isFirst = true): Promise<string> {
  const terminal = onTerminal(file, args);
  if (isFirst) await acceptFirst(terminal);
  await untilSomeAreIn(file, terminal.ended, () => {
    terminal.type("\u0003");
    return terminal.seen(/\^C/);
  });
  expect(await terminal.ended).toBe(130);
  // A terminal breaks long messages between words.
  return plain(terminal.shown()).replaceAll(/\s+/g, " ");
}
