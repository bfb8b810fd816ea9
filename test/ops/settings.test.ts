/** Settings: an invalid one stops the start with one line, a valid one is read. */
import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { generateIdentity, identityToRecipient } from "age-encryption";
import { readConfig, readDemoConfig } from "../../src/config.ts";
import { isLoopback } from "../../src/runtime/loopback.ts";
import { aCertificate } from "../support/certificate.ts";
import { aFolder } from "../support/folder.ts";
import { needing } from "../support/needing.ts";
import { start } from "../support/process.ts";

const recipient = await identityToRecipient(await generateIdentity());
const mistyped = `${recipient.slice(0, -1)}${recipient.endsWith("q") ? "p" : "q"}`;

const wrong: [name: string, value: string][] = Object.entries({
  HOST: ["no host", "a/b", "http://127.0.0.1"],
  PORT: ["-1", "65536", "http", "80.5", "0x50", "1e3"],
  RATE_LIMIT_PER_MIN: ["0", "-1", "1000000001", "sixty", "6e1", "60.0"],
  LOG_LEVEL: ["verbose", "INFO", "30", "off"],
  TRUST_PROXY: ["yes", "true", "2"],
  METRICS: ["0", "1", "PUBLIC"],
  DISCLOSURES: ["0", "no", "ON"],
  RECEIVE_HOST: ["no host", "a/b"],
  RECEIVE_PORT: ["-1", "65536", "http"],
  INBOX_KEEP_DAYS: ["0", "-1", "1.5", "never"],
  BACKUP_AT: ["3:15", "24:00", "03:60", "noon"],
  BACKUP_KEEP: ["0", "all"],
  BACKUP_TO: ["s3://", "s3:bucket", "s3://A_bucket/x"],
  DATABASE_PATH: [":memory:", "file:leads.db", "file::memory:?cache=shared", ".", "not-yet-there/"],
  BASE_URL: [
    ...["www.example.com", "ftp://www.example.com", "https://", "https://www.example.com/api", "https://a b", "x"],
    ...["https://www.example.com/?q=1", "https://www.example.com#top"],
  ],
}).flatMap(([name, values]) => values.map((value): [string, string] => [name, value]));

describe("an invalid setting", () => {
  test.each(wrong)("rejects %s=%j with its name, its value, and what is accepted", (name, value) => {
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
    [{ BACKUP_RECIPIENT: mistyped }, "BACKUP_RECIPIENT"],
    [{ BACKUP_RECIPIENT: `age1${"q".repeat(58)}` }, "BACKUP_RECIPIENT"],
    [{ ALERT_MAIL_TO: "owner@example.com" }, "SMTP_URL"],
    [{ ALERT_MAIL_TO: "a@example.com,b@example.com", SMTP_URL: "smtp://localhost" }, "ALERT_MAIL_TO"],
    [{ ALERT_MAIL_TO: "owner@example.com", SMTP_URL: "smtp://:secret@host:port" }, "SMTP_URL"],
  ])("with a secret is rejected without its value: %j", (environment, name) => {
    const message = expect.stringMatching(new RegExp(`^${name} (?!.*secret).* takes `));
    expect(() => readConfig(environment)).toThrow(expect.objectContaining({ status: 2, message }));
  });

  test.each([
    [{ NODE_NAME: "n1" }, "CLUSTER"],
    [{ CLUSTER: "http://127.0.0.1:4001" }, "NODE_NAME"],
    [{ BACKUP_TO: "s3://bucket/leads" }, "BACKUP_RECIPIENT"],
    [{ BACKUP_TO: "s3://bucket/leads", BACKUP_RECIPIENT: recipient }, "AWS_ACCESS_KEY_ID"],
  ])("that requires another one names it: %j", (environment, name) => {
    expect(() => readConfig(environment)).toThrow(new RegExp(`^${name} is not set[,.]`));
  });

  test.each<[Record<string, string>, string]>([
    [{ TLS_CERT: "nowhere.pem", TLS_KEY: import.meta.path }, "TLS_CERT"],
    [{ TLS_CERT: import.meta.path, TLS_KEY: "nowhere.pem" }, "TLS_CERT"],
    [{ TLS_CERT: "cert.pem" }, "TLS_KEY"],
    [{ TLS_KEY: "key.pem" }, "TLS_CERT"],
  ])("of TLS is refused by name: %j", (environment, name) => {
    expect(() => readConfig(environment)).toThrow(new RegExp(`^${name} is (?:not set|".*"), but it takes `));
  });

  needing("openssl")("of a key for another certificate is refused", () => {
    const [{ TLS_CERT }, { TLS_KEY }] = [aCertificate(), aCertificate()];
    expect(() => readConfig({ TLS_CERT, TLS_KEY })).toThrow(/^TLS_KEY is .* the private key of the certificate/);
  });

  test("for a file that is not a database stops the start with one line and status 1", async () => {
    const folder = aFolder();
    writeFileSync(join(folder, "notes.txt"), "Not a database at all, only notes.");
    const server = start({ DATABASE_PATH: "notes.txt" }, folder);
    expect(await server.exited).toBe(1);
    expect(server.errors()).toMatch(/^[^\n]*notes\.txt[^\n]*DATABASE_PATH[^\n]*\n$/);
  });
});

describe("a valid setting", () => {
  const backups = { to: "/backups", at: { hour: 3, minute: 15 }, keep: 14, recipient: null };
  test.each(
    Object.entries<Record<string, object>>({
      HOST: { "0.0.0.0": { host: "0.0.0.0" }, "::1": { host: "::1" }, localhost: { host: "localhost" } },
      PORT: { "0": { port: 0 }, "65535": { port: 65_535 }, " 8080 ": { port: 8080 } },
      RATE_LIMIT_PER_MIN: { "1": { rateLimitPerMin: 1 }, "1000000000": { rateLimitPerMin: 1_000_000_000 } },
      LOG_LEVEL: { silent: { logLevel: "silent" }, trace: { logLevel: "trace" } },
      TRUST_PROXY: { "1": { trustProxy: true }, "0": { trustProxy: false } },
      METRICS: { public: { publicMetrics: true } },
      METRICS_TOKEN: { "a-token": { metricsToken: "a-token" } },
      DISCLOSURES: { off: { disclosures: false } },
      INBOX: { "/var/lib/leadfile/inbox": { inbox: "/var/lib/leadfile/inbox" }, "": { inbox: null } },
      RECEIVE_HOST: { "::1": { receiveHost: "::1" } },
      RECEIVE_PORT: { "0": { receivePort: 0 } },
      INBOX_KEEP_DAYS: { "1": { inboxKeepDays: 1 }, off: { inboxKeepDays: null } },
      BACKUP_TO: { "/backups": { backups } },
      ALERT_MAIL_TO: { "": { alertMail: null } },
      ALERT_URL: { "https://hooks.example.com/x": { alertUrl: "https://hooks.example.com/x" } },
      BASE_URL: {
        "https://www.example.com/": { baseUrl: "https://www.example.com" },
        "HTTP://Example.com:8080": { baseUrl: "http://example.com:8080" },
        "": { baseUrl: null },
      },
      DATABASE_PATH: { "/var/lib/leadfile/leads.db": { databasePath: "/var/lib/leadfile/leads.db" } },
    }).flatMap(([name, values]) => Object.entries(values).map(([value, config]) => [name, value, config] as const)),
  )("accepts %s=%j", (name, value, expected) => {
    expect(readConfig({ [name]: value })).toMatchObject(expected);
  });

  test("accepts the backup settings together", () => {
    const place = { BACKUP_TO: "s3://b-1/leads", AWS_ACCESS_KEY_ID: "key", AWS_SECRET_ACCESS_KEY: "secret" };
    const backups = { to: "s3://b-1/leads", at: { hour: 23, minute: 5 }, keep: 1, recipient };
    const times = { BACKUP_AT: "23:05", BACKUP_KEEP: "1", BACKUP_RECIPIENT: recipient };
    expect(readConfig({ ...place, ...times })).toMatchObject({ backups });
  });

  test("without settings, the documented defaults apply", () => {
    expect(readConfig({})).toEqual({
      host: "127.0.0.1",
      port: 3000,
      databasePath: "data/leadfile.db",
      baseUrl: null,
      rateLimitPerMin: 60,
      logLevel: "info",
      trustProxy: false,
      publicMetrics: false,
      metricsToken: null,
      tls: null,
      disclosures: true,
      inbox: null,
      inboxKeepDays: 30,
      receiveHost: "127.0.0.1",
      receivePort: 3001,
      cluster: null,
      backups: null,
      alertUrl: null,
      alertMail: null,
      alertPingUrl: null,
    });
  });
});

describe("a demonstration", () => {
  test("has its own file, and is served as its settings say", () => {
    const config = readDemoConfig({ DATABASE_PATH: "data/leadfile.db", PORT: "8080", LOG_LEVEL: "info" });
    expect(config).toMatchObject({ databasePath: "data/demo.db", port: 8080, logLevel: "info" });
    expect(readDemoConfig({}).logLevel).toBe("warn");
  });

  test("uses and names nothing real: no inbox, no cluster, no public address", () => {
    const cluster = { CLUSTER: "http://10.0.0.1:4001", NODE_NAME: "n1" };
    const real = { BASE_URL: "https://www.example.com", INBOX: "/var/lib/leadfile/inbox", ...cluster };
    expect(readDemoConfig(real)).toMatchObject({ baseUrl: null, inbox: null, cluster: null });
  });
});

test("a host is a loopback address only if nobody else can reach it", () => {
  const names = ["localhost", "LOCALHOST", "127.0.0.1", "127.8.9.1", "::1", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1"];
  const others = ["0.0.0.0", "::", "192.0.2.7", "127.example.com", "localhost.example.com", "::ffff:192.0.2.7"];
  expect([...names, ...others].filter(isLoopback)).toEqual(names);
});
