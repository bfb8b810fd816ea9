/** Settings: a wrong one stops the start with one line, a right one is understood. */
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { demoServerEnvironment, isLoopback, readConfig, readDemoConfig, settings } from "../../src/config.ts";
import { aFolder } from "../support/folder.ts";
import { start } from "../support/process.ts";

const wrong: [name: string, value: string][] = [
  ...["no host", "a/b", "http://127.0.0.1"].map((value): [string, string] => ["HOST", value]),
  ...["-1", "65536", "http", "80.5", "0x50", "1e3"].map((value): [string, string] => ["PORT", value]),
  ...["0", "-1", "1000000001", "sixty", "6e1", "60.0"].map((value): [string, string] => ["RATE_LIMIT_PER_MIN", value]),
  ...["verbose", "INFO", "30", "off"].map((value): [string, string] => ["LOG_LEVEL", value]),
  ...["yes", "true", "2"].map((value): [string, string] => ["TRUST_PROXY", value]),
  ...["0", "1", "PUBLIC"].map((value): [string, string] => ["METRICS", value]),
  ...["0", "no", "ON"].map((value): [string, string] => ["DISCLOSURES", value]),
  ...["no host", "a/b"].map((value): [string, string] => ["RECEIVE_HOST", value]),
  ...["-1", "65536", "http"].map((value): [string, string] => ["RECEIVE_PORT", value]),
  ...["0", "-1", "1.5", "never"].map((value): [string, string] => ["INBOX_KEEP_DAYS", value]),
  ...["3:15", "24:00", "03:60", "noon"].map((value): [string, string] => ["BACKUP_AT", value]),
  ...["0", "all"].map((value): [string, string] => ["BACKUP_KEEP", value]),
  ...["s3://", "s3:bucket", "s3://A_bucket/x"].map((value): [string, string] => ["BACKUP_TO", value]),
  ...[":memory:", "file:leads.db", "file::memory:?cache=shared", ".", "not-yet-there/"].map(
    (value): [string, string] => ["DATABASE_PATH", value],
  ),
  ...["www.example.com", "ftp://www.example.com", "https://", "https://www.example.com/api", "https://a b", "x"].map(
    (value): [string, string] => ["BASE_URL", value],
  ),
  ...["https://www.example.com/?q=1", "https://www.example.com#top"].map((value): [string, string] => [
    "BASE_URL",
    value,
  ]),
];

describe("a wrong setting", () => {
  test.each(wrong)("%s=%j is refused in a line that names it, what it was, and what is accepted", (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(
      expect.objectContaining({
        status: 2,
        message: expect.stringMatching(new RegExp(`^${name} .*${RegExp.escape(JSON.stringify(value))}.* takes .+`)),
      }),
    );
  });

  test.each([
    [{ BASE_URL: "https://me:secret@www.example.com" }, "BASE_URL"],
    [{ CLUSTER: "http://me:secret@127.0.0.1:4001", NODE_NAME: "n1" }, "CLUSTER"],
    [{ ALERT_URL: "hooks.example.com/secret" }, "ALERT_URL"],
    [{ ALERT_PING_URL: "ftp://example.com/secret" }, "ALERT_PING_URL"],
    [{ BACKUP_RECIPIENT: "AGE-SECRET-KEY-1secret" }, "BACKUP_RECIPIENT"],
  ])("with a secret in it is refused without its value: %j", (environment, name) => {
    const refusal = (() => {
      try {
        return readConfig(environment);
      } catch (cause) {
        return cause;
      }
    })();
    expect(refusal).toMatchObject({ status: 2, message: expect.stringMatching(new RegExp(`^${name} .* takes `)) });
    expect(String(refusal)).not.toContain("secret");
  });

  test.each([
    [{ NODE_NAME: "n1" }, "CLUSTER"],
    [{ CLUSTER: "http://127.0.0.1:4001" }, "NODE_NAME"],
    [{ BACKUP_TO: "s3://bucket/leads" }, "BACKUP_RECIPIENT"],
  ])("that needs another one is refused by the name of that one: %j", (environment, name) => {
    expect(() => readConfig(environment)).toThrow(new RegExp(`^${name} is ""`));
  });

  test.each([
    ["HOST", "no host"],
    ["PORT", "65536"],
    ["BASE_URL", "https://www.example.com/api"],
    ["RATE_LIMIT_PER_MIN", "0"],
    ["LOG_LEVEL", "verbose"],
    ["TRUST_PROXY", "yes"],
    ["TLS_CERT", "nowhere.pem"],
    ["TLS_KEY", "nowhere.pem"],
  ])("%s=%s stops the start with one line on standard error and status 2", async (name, value) => {
    const server = start({ [name]: value });
    expect(await server.exited).toBe(2);
    expect(server.output()).toBe("");
    expect(server.errors()).toMatch(new RegExp(`^[^\\n]*${name}[^\\n]*\\n$`));
  });

  test("a file that is there but no database stops the start with one line and status 1", async () => {
    const folder = aFolder();
    writeFileSync(join(folder, "notes.txt"), "Not a database at all, only notes.");
    const server = start({ DATABASE_PATH: "notes.txt" }, folder);
    expect(await server.exited).toBe(1);
    expect(server.errors()).toMatch(/^[^\n]*notes\.txt[^\n]*DATABASE_PATH[^\n]*\n$/);
  });

  test("a certificate that is none stops the start with one line that names its variables", async () => {
    const folder = aFolder();
    writeFileSync(join(folder, "none.pem"), "none");
    const server = start({ TLS_CERT: "none.pem", TLS_KEY: "none.pem" }, folder);
    expect(await server.exited).not.toBe(0);
    expect(server.errors()).toMatch(/^[^\n]*TLS_CERT[^\n]*\n$/);
  });

  test("a database that is in no file stops the start with one line that names the variable", async () => {
    const server = start({ DATABASE_PATH: ":memory:" });
    expect(await server.exited).toBeGreaterThan(0);
    expect(server.errors()).toMatch(/^[^\n]*DATABASE_PATH[^\n]*\n$/);
  });
});

describe("a right setting", () => {
  test.each([
    ["HOST", "0.0.0.0", { host: "0.0.0.0" }],
    ["HOST", "::1", { host: "::1" }],
    ["HOST", "localhost", { host: "localhost" }],
    ["PORT", "0", { port: 0 }],
    ["PORT", "65535", { port: 65_535 }],
    ["PORT", " 8080 ", { port: 8080 }],
    ["RATE_LIMIT_PER_MIN", "1", { rateLimitPerMin: 1 }],
    ["RATE_LIMIT_PER_MIN", "1000000000", { rateLimitPerMin: 1_000_000_000 }],
    ["LOG_LEVEL", "silent", { logLevel: "silent" }],
    ["LOG_LEVEL", "trace", { logLevel: "trace" }],
    ["TRUST_PROXY", "1", { trustProxy: true }],
    ["TRUST_PROXY", "0", { trustProxy: false }],
    ["METRICS", "public", { publicMetrics: true }],
    ["DISCLOSURES", "off", { disclosures: false }],
    ["INBOX", "/var/lib/leadfile/inbox", { inbox: "/var/lib/leadfile/inbox" }],
    ["INBOX", "", { inbox: null }],
    ["RECEIVE_HOST", "::1", { receiveHost: "::1" }],
    ["RECEIVE_PORT", "0", { receivePort: 0 }],
    ["INBOX_KEEP_DAYS", "1", { inboxKeepDays: 1 }],
    ["INBOX_KEEP_DAYS", "off", { inboxKeepDays: null }],
    ["BACKUP_TO", "/backups", { backups: { to: "/backups", at: { hour: 3, minute: 15 }, keep: 14, recipient: null } }],
    ["ALERT_URL", "https://hooks.example.com/x", { alertUrl: "https://hooks.example.com/x" }],
    ["BASE_URL", "https://www.example.com/", { baseUrl: "https://www.example.com" }],
    ["BASE_URL", "HTTP://Example.com:8080", { baseUrl: "http://example.com:8080" }],
    ["BASE_URL", "", { baseUrl: null }],
    ["DATABASE_PATH", "/var/lib/leadfile/leads.db", { databasePath: "/var/lib/leadfile/leads.db" }],
  ])("%s=%j is understood", (name, value, expected) => {
    expect(readConfig({ [name]: value })).toMatchObject(expected);
  });

  test("the settings of backups are understood together", () => {
    const recipient = `age1${"q".repeat(58)}`;
    const environment = {
      BACKUP_TO: "s3://b-1/leads",
      BACKUP_AT: "23:05",
      BACKUP_KEEP: "1",
      BACKUP_RECIPIENT: recipient,
    };
    const backups = { to: "s3://b-1/leads", at: { hour: 23, minute: 5 }, keep: 1, recipient };
    expect(readConfig(environment)).toMatchObject({ backups });
  });

  test("nothing set gives the defaults that are documented", () => {
    expect(readConfig({})).toEqual({
      host: "127.0.0.1",
      port: 3000,
      databasePath: "data/leadfile.db",
      baseUrl: null,
      rateLimitPerMin: 60,
      logLevel: "info",
      trustProxy: false,
      publicMetrics: false,
      tls: null,
      disclosures: true,
      inbox: null,
      inboxKeepDays: 30,
      receiveHost: "127.0.0.1",
      receivePort: 3001,
      cluster: null,
      backups: null,
      alertUrl: null,
      alertPingUrl: null,
    });
    expect(Object.keys(settings)).toEqual(
      (
        "HOST PORT DATABASE_PATH BASE_URL RATE_LIMIT_PER_MIN LOG_LEVEL TRUST_PROXY METRICS TLS_CERT TLS_KEY " +
        "DISCLOSURES INBOX INBOX_KEEP_DAYS RECEIVE_HOST RECEIVE_PORT CLUSTER NODE_NAME CLUSTER_AUTH BACKUP_TO BACKUP_AT " +
        "BACKUP_KEEP BACKUP_RECIPIENT ALERT_URL ALERT_PING_URL"
      ).split(" "),
    );
  });
});

describe("a demonstration", () => {
  test("has a file of its own, and is served where and how its user has set", () => {
    const config = readDemoConfig({ DATABASE_PATH: "data/leadfile.db", PORT: "8080", LOG_LEVEL: "info" });
    expect(config).toMatchObject({ databasePath: "data/demo.db", port: 8080, logLevel: "info" });
    expect(readDemoConfig({}).logLevel).toBe("warn");
  });

  test("touches and names nothing that is real: no inbox, no cluster, no public address", () => {
    const real = {
      BASE_URL: "https://www.example.com",
      INBOX: "/var/lib/leadfile/inbox",
      CLUSTER: "http://10.0.0.1:4001",
      NODE_NAME: "n1",
    };
    expect(readDemoConfig(real)).toMatchObject({ baseUrl: null, inbox: null, cluster: null });
    const own = { CLUSTER: "http://127.0.0.1:4001", NODE_NAME: "demo-1" };
    const environment = demoServerEnvironment(own, {
      ...real,
      CLUSTER_AUTH: "/etc/leadfile/auth",
      TLS_CERT: "/cert.pem",
    });
    expect(readConfig(environment)).toMatchObject({
      host: "127.0.0.1",
      baseUrl: null,
      inbox: null,
      tls: null,
      cluster: { url: "http://127.0.0.1:4001", name: "demo-1", credentials: null },
    });
  });
});

describe("the address", () => {
  test.each([
    ["127.0.0.1", true],
    ["127.8.9.1", true],
    ["localhost", true],
    ["LOCALHOST", true],
    ["::1", true],
    ["0:0:0:0:0:0:0:1", true],
    ["::ffff:127.0.0.1", true],
    ["0.0.0.0", false],
    ["::", false],
    ["192.0.2.7", false],
    ["127.example.com", false],
    ["localhost.example.com", false],
    ["::ffff:192.0.2.7", false],
  ])("of HOST=%s is for this machine alone: %p", (host, isAlone) => {
    expect(isLoopback(host)).toBe(isAlone);
  });

  test.each([
    ["127.0.0.1", "http://127.0.0.1:"],
    ["0.0.0.0", "http://localhost:"],
    ["::1", "http://[::1]:"],
  ])("of HOST=%s begins all links while no public one is set", async (HOST, origin) => {
    const url = new URL(await start({ HOST }).listening());
    const reached = HOST === "0.0.0.0" ? "127.0.0.1" : url.hostname;
    const answer = await fetch(`http://${reached}:${url.port}/api/v1/leads`);
    expect(await answer.text()).toContain(`"docs":"${origin}${url.port}/docs#missing_api_key"`);
  });
});
