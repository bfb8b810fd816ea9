/** The polling programs of docs/api.md: nothing is lost over kills of the server and of the program, and a line that fails. */
import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { aLine, type Fault } from "../packages/client/line.ts";
import { answering } from "../support/answering.ts";
import { aLead, newLead, someLeads } from "../support/builders.ts";
import { importLeads, openTestDatabase } from "../support/database.ts";
import { until } from "../support/eventually.ts";
import { aFolder } from "../support/folder.ts";
import { aFreePort } from "../support/free-port.ts";
import { serve } from "../support/harness.ts";
import { needing } from "../support/needing.ts";
import { serverCommand, start } from "../support/process.ts";
import { type Language, programOf } from "./programs.ts";

/** The command that runs each program, and its pauses, which a test shortens to a hundredth. */
const programs = {
  ts: {
    needs: [],
    file: "poll.ts",
    command: [process.execPath, "poll.ts"],
    pauses: [["seconds * 1000", "seconds * 10"]],
  },
  python: {
    needs: ["python3", "requests"],
    file: "poll.py",
    command: ["python3", "poll.py"],
    pauses: [
      ["sleep(wait)", "sleep(wait / 100)"],
      ["sleep(30)", "sleep(0.3)"],
    ],
  },
  go: {
    needs: ["go"],
    file: "poll.go",
    command: ["./poll"],
    pauses: [
      ["Duration(wait) * time.Second", "Duration(wait) * 10 * time.Millisecond"],
      ["30 * time.Second) {", "300 * time.Millisecond) {"],
    ],
  },
  php: {
    needs: ["php"],
    file: "poll.php",
    command: ["php", "poll.php"],
    pauses: [
      ["sleep($wait)", "usleep(10000 * $wait)"],
      ["    sleep(30)", "    usleep(300000)"],
    ],
  },
} as const;

/** Makes a folder with the program for the server at an origin, with short pauses. */
function prepared(language: Language, origin: string): string {
  const folder = aFolder();
  const { file, pauses } = programs[language as keyof typeof programs];
  let code = programOf("Polling", language, origin);
  for (const [written, shortened] of pauses) {
    expect(code).toContain(written);
    code = code.replace(written, shortened);
  }
  writeFileSync(join(folder, file), code);
  if (language !== "go") return folder;
  const built = Bun.spawnSync(["go", "build", "-o", "poll", file], { cwd: folder });
  expect(built.stderr.toString()).toBe("");
  return folder;
}

const faults: readonly Fault[] = ["drop", "cut", "html", "garbage", "busy"];

for (const [language, { needs, command }] of Object.entries(programs)) {
  needing(...needs)(
    `the program in ${language} prints every lead, over a killed server, its own kills, and errors of a proxy`,
    async () => {
      const firstMs = Date.now() - 3_000_000;
      const at = (n: number) => aLead({ identified_at: new Date(firstMs + n * 1_000).toISOString() });
      const leads = Array.from({ length: 250 }, (_, n) => at(2 * n));
      const { file: database, account, aKey, stop } = await serve({ leads, nowMs: Date.now() });
      const key = aKey();
      await stop();
      const port = String(await aFreePort());
      const begin = async () => {
        const settings = { DATABASE_PATH: database, PORT: port, RATE_LIMIT_PER_MIN: "100000" };
        const running = start(settings, aFolder(), serverCommand);
        return { ...running, url: await running.listening() };
      };
      let server = await begin();
      const line = await aLine({ url: server.url, clock: { nowMs: Date.now() } });
      const folder = prepared(language as Language, line.url);
      const importMore = (...more: ReturnType<typeof at>[]) => {
        const opened = openTestDatabase(database);
        importLeads(opened, account.number, more.map(newLead), { nowMs: Date.now() });
        opened.close();
      };
      const printed: string[] = [];
      const run = () => start({ LEADFILE_KEY: key }, folder, command);
      const timesOf = (running: ReturnType<typeof run>) =>
        [...running.output().matchAll(/^(\S+Z) /gm)].map(([, time = ""]) => new Date(time).toISOString());

      line.faults.push("drop", "html");
      const first = run();
      await until(() => timesOf(first).length > 20);
      await first.end("SIGKILL");
      printed.push(...timesOf(first));

      line.faults.push(...faults);
      const second = run();
      await until(() => timesOf(second).length > 100);
      await server.end("SIGKILL");
      await second.complained(/again[\s\S]*again[\s\S]*again/);
      server = await begin();
      const late = at(401);
      const fresh = at(900);
      importMore(late, fresh);
      await until(() => timesOf(second).includes(fresh.identified_at), 50);
      await second.end("SIGKILL");
      printed.push(...timesOf(second));

      const third = run();
      const last = at(901);
      importMore(last);
      await until(() => timesOf(third).includes(last.identified_at), 50);
      await third.end("SIGKILL");
      printed.push(...timesOf(third));

      const expected = [...leads, late, fresh, last].map(({ identified_at }) => identified_at).toSorted();
      expect([...new Set(printed)].toSorted()).toEqual(expected);
      // A kill repeats the one lead whose checkpoint was not written yet.
      expect(printed.length - expected.length).toBeLessThanOrEqual(2);
    },
    60_000,
  );

  needing(...needs)(
    `the program in ${language} ends with the error of the server, and follows no redirect`,
    async () => {
      const { url } = await serve({ leads: someLeads(1) });
      const keys: (string | null)[] = [];
      const other = answering(({ headers }) => {
        keys.push(headers.get("authorization"));
        return Response.json({}, { status: 401 });
      });
      const elsewhere = answering(() => Response.redirect(other.replace("127.0.0.1", "localhost"), 308));
      for (const [origin, says] of [
        [url, "This API key does not exist."],
        [elsewhere, ""],
      ] as const) {
        const running = start({ LEADFILE_KEY: "lf_0" }, prepared(language as Language, origin), command);
        expect([await running.exited, running.errors()]).toEqual([1, expect.stringContaining(says)]);
      }
      expect(keys).toEqual([]);
    },
  );
}
