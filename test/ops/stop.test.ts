/** Usage is written while the server runs and when it stops, and the server stops in order. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { eventually } from "../support/eventually.ts";
import { askingFor } from "../support/write-lock.ts";
import { aRunningServer, requestsIn } from "./running.ts";

describe("a stop", () => {
  // A supervisor stops a server with SIGTERM, and restarts one that ended for any other reason.
  test("by a signal writes the usage, copies the log into the file, and exits with the status of the signal", async () => {
    const { file, again, ...first } = await aRunningServer();
    let running: Pick<typeof first, "server" | "get"> = first;
    let requests = 0;
    for (const [signal, status] of [
      ["SIGTERM", 0],
      ["SIGINT", 0],
      ["SIGHUP", 129],
    ] as const) {
      for (let times = 0; times < 5; times++, requests++) expect((await running.get("/usage")).status).toBe(200);
      expect(await running.server.end(signal)).toBe(status);
      expect([Bun.file(`${file}-wal`).size, requestsIn(file)]).toEqual([0, requests]);
      running = await again();
    }
  });

  test("gives only correct responses to requests in the meantime", async () => {
    const { file, server, get } = await aRunningServer();
    const answers = Array.from({ length: 30 }, () => get("/leads"));
    const settled = Promise.allSettled(answers);
    await Promise.race(answers);
    expect(await server.end("SIGTERM")).toBe(0);
    const given = (await settled).flatMap((answer) => (answer.status === "fulfilled" ? [answer.value.status] : []));
    expect(new Set(given)).toEqual(new Set([200]));
    expect(requestsIn(file)).toBeGreaterThanOrEqual(given.length);
  });

  test("after the file was damaged ends at once, with one line", async () => {
    const { file, server: first, again } = await aRunningServer();
    await first.end("SIGTERM");
    const { server, get } = await again();
    using other = new Database(file);
    other.run("BEGIN IMMEDIATE");
    other.run("UPDATE accounts SET created_at = 1");
    expect((await get("/usage")).status).toBe(200);
    writeFileSync(file, "overwritten by something else");
    // A commit of another program makes the server read the file again.
    other.run("COMMIT");
    expect((await get("/usage")).status).toBe(500);
    expect(await server.end("SIGTERM")).toBe(1);
    expect(server.errors()).toMatch(/^[^\n]*is not a[^\n]*\n$/);
    expect(server.errors()).not.toMatch(/insert into/i);
  });

  test("waits for another writer, and then writes the usage", async () => {
    const { file, url, server, get } = await aRunningServer({ LOG_LEVEL: "silent" });
    using other = new Database(file);
    other.run("BEGIN IMMEDIATE");
    const hasAsked = askingFor(file);
    expect((await get("/usage")).status).toBe(200);
    await hasAsked();
    const ended = server.end("SIGTERM");
    // The server accepts no more requests, so the stop itself requests the lock.
    await eventually(async () => expect(fetch(url)).rejects.toThrow());
    await hasAsked();
    other.run("COMMIT");
    expect([await ended, server.errors()]).toEqual([0, ""]);
    expect(requestsIn(file)).toBe(1);
  });
});
