/** The settings (environment; Bun reads .env): the only reader of the environment. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { existsSync, lstatSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { isIP } from "node:net";
import { dirname, resolve } from "node:path";
import { UserError } from "./user-error.ts";

export const logLevels = ["silent", "fatal", "error", "warn", "info", "debug", "trace"] as const;
export type LogLevel = (typeof logLevels)[number];

type Environment = Readonly<Record<string, string | undefined>>;

interface Setting {
  readonly fallback: string;
  readonly meaning: string;
}

/** Every variable that is a setting of the server, as docs/operations.md lists them. */
export const settings = {
  HOST: { fallback: "127.0.0.1", meaning: "address to listen on" },
  PORT: { fallback: "3000", meaning: "port to listen on; 0 picks a free one" },
  DATABASE_PATH: { fallback: "data/leadfile.db", meaning: "the SQLite file; its folder is created" },
  BASE_URL: { fallback: "http://HOST:PORT", meaning: "public origin, for links and the redirect to www" },
  RATE_LIMIT_PER_MIN: { fallback: "60", meaning: "requests per key and minute" },
  LOG_LEVEL: { fallback: "info", meaning: logLevels.join(", ") },
  TRUST_PROXY: { fallback: "0", meaning: "1 trusts X-Forwarded-Proto and X-Forwarded-Host" },
  METRICS: { fallback: "private", meaning: "public opens /metrics to other machines" },
  TLS_CERT: { fallback: "unset", meaning: "PEM file with the certificate; goes with TLS_KEY" },
  TLS_KEY: { fallback: "unset", meaning: "PEM file with its private key" },
  DISCLOSURES: { fallback: "on", meaning: "off keeps no record of which key received which leads" },
  INBOX: { fallback: "unset", meaning: "folder that is watched for files to import" },
  INBOX_KEEP_DAYS: { fallback: "30", meaning: "days after which imported files are deleted; off keeps them" },
  RECEIVE_HOST: { fallback: "127.0.0.1", meaning: "address on which receive listens" },
  RECEIVE_PORT: { fallback: "3001", meaning: "port on which receive listens" },
  CLUSTER: { fallback: "unset", meaning: "address of the local rqlite node; DATABASE_PATH is its file" },
  NODE_NAME: { fallback: "unset", meaning: "name of this server in its cluster" },
  CLUSTER_AUTH: { fallback: "unset", meaning: "file with user:password for the rqlite nodes" },
  BACKUP_TO: { fallback: "unset", meaning: "folder or s3://bucket/prefix for daily backups" },
  BACKUP_AT: { fallback: "03:15", meaning: "local time of the daily backup" },
  BACKUP_KEEP: { fallback: "14", meaning: "number of backups to keep" },
  BACKUP_RECIPIENT: { fallback: "unset", meaning: "age recipient (age1…) that backups are encrypted for" },
  ALERT_URL: { fallback: "unset", meaning: "address to which findings of doctor are posted" },
  ALERT_PING_URL: { fallback: "unset", meaning: "address that is requested after each verified backup" },
} as const satisfies Record<string, Setting>;

type SettingName = keyof typeof settings;

const readers = {
  host: (environment: Environment) => readHost(environment, "HOST"),
  port: (environment: Environment) => wholeNumber(environment, "PORT", 0, 65_535),
  databasePath: readDatabasePath,
  /** The public origin; null if the address of the server is used. */
  baseUrl: readBaseUrl,
  rateLimitPerMin: (environment: Environment) => wholeNumber(environment, "RATE_LIMIT_PER_MIN", 1, 1_000_000_000),
  logLevel: (environment: Environment) => oneOf(environment, "LOG_LEVEL", logLevels),
  trustProxy: (environment: Environment) => oneOf(environment, "TRUST_PROXY", ["0", "1"]) === "1",
  publicMetrics: (environment: Environment) => oneOf(environment, "METRICS", ["private", "public"]) === "public",
  tls: readTlsPair,
  /** True if the ledger records which key received which leads. */
  disclosures: (environment: Environment) => oneOf(environment, "DISCLOSURES", ["on", "off"]) === "on",
  /** The folder that is watched for files to import; null if there is none. */
  inbox: (environment: Environment) => given(environment, "INBOX"),
  inboxKeepDays: readInboxKeepDays,
  receiveHost: (environment: Environment) => readHost(environment, "RECEIVE_HOST"),
  receivePort: (environment: Environment) => wholeNumber(environment, "RECEIVE_PORT", 0, 65_535),
  cluster: readCluster,
  backups: readBackups,
  alertUrl: (environment: Environment) => readUrl(environment, "ALERT_URL"),
  alertPingUrl: (environment: Environment) => readUrl(environment, "ALERT_PING_URL"),
};

export type Config = { readonly [Name in keyof typeof readers]: ReturnType<(typeof readers)[Name]> };
export type ClusterConfig = NonNullable<Config["cluster"]>;
export type BackupConfig = NonNullable<Config["backups"]>;

/** Reads all settings; throws a UserError that names the first wrong one, its value, and what is accepted. */
export function readConfig(environment: Environment = process.env): Config {
  const read = Object.entries(readers).map(([name, reader]) => [name, reader(environment)]);
  return Object.fromEntries(read) as Config; // There is a reader for every setting, and its result has the type of the setting.
}

/** Reads all settings for a command that works without them. If any is wrong, config is null, and faults has each error. */
export function examineSettings(environment: Environment = process.env): {
  readonly config: Config | null;
  readonly faults: readonly UserError[];
} {
  const faults = Object.values(readers).flatMap((reader) => {
    try {
      reader(environment);
      return [];
    } catch (cause) {
      if (cause instanceof UserError) return [cause];
      throw cause;
    }
  });
  return { config: faults.length === 0 ? readConfig(environment) : null, faults };
}

/** Settings that a demonstration ignores, so that it uses and names nothing real. */
const unsetInDemo = {
  ...{ BASE_URL: "", INBOX: "", CLUSTER: "", NODE_NAME: "", CLUSTER_AUTH: "" },
  ...{ BACKUP_TO: "", BACKUP_RECIPIENT: "", ALERT_URL: "", ALERT_PING_URL: "" },
};

/** Reads the settings of a demonstration. It has its own file, so that made-up leads never mix with real ones. */
export function readDemoConfig(environment: Environment = process.env): Config {
  const logLevel = given(environment, "LOG_LEVEL") ?? "warn";
  return readConfig({ ...environment, ...unsetInDemo, DATABASE_PATH: "data/demo.db", LOG_LEVEL: logLevel });
}

/** Returns the environment of a demonstration server on this machine, with the given settings. */
export function demoServerEnvironment(
  own: Readonly<Record<string, string>>,
  environment: Environment = process.env,
): Environment {
  return { ...environment, ...unsetInDemo, HOST: "127.0.0.1", TLS_CERT: "", TLS_KEY: "", ...own };
}

/** Reads DATABASE_PATH only, for commands: a wrong PORT must not keep anybody from revoking a key. */
export function readDatabasePath(environment: Environment = process.env): string {
  const value = text(environment, "DATABASE_PATH");
  const isFolder = existsSync(value) && statSync(value).isDirectory();
  // SQLite would take the first two for a database in memory, which is lost at the end.
  if (!/^(?::memory:|file:)|\/$/.test(value) && !isFolder) return followLink(value);
  throw wrong("DATABASE_PATH", value, "the path of a file, such as data/leadfile.db");
}

/** The settings of the service that deploy/install.sh installs. */
const serviceSettings = "/etc/leadfile.env";

/** Throws a UserError if a second database would be created next to that of the service of this machine. */
export function refuseSecondDatabase(path: string, environment: Environment = process.env): void {
  if (given(environment, "DATABASE_PATH") !== null || existsSync(path)) return;
  const [, served = null] = /^DATABASE_PATH=["']?([^"'\n]+)/m.exec(textIfReadable(serviceSettings)) ?? [];
  if (served === null || resolve(served) === resolve(path)) return;
  throw new UserError(
    `There is no database at ${resolve(path)}, and ${serviceSettings} names ${served}, that of the service of this machine.`,
    "Run leadfile-admin with the same words, or set DATABASE_PATH to create another database.",
  );
}

/** Returns the text of a file; empty if there is none, or if this user may not read it. */
function textIfReadable(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** Follows links: SQLite keeps the log next to the real file, and two names of one file must not get two servers. */
function followLink(path: string): string {
  try {
    if (!lstatSync(path).isSymbolicLink()) return path;
    return existsSync(path) ? realpathSync(path) : resolve(dirname(path), readlinkSync(path));
  } catch {
    // Opening the file will say what is wrong.
    return path;
  }
}

/**
 * Returns the absolute path that a path typed in a shell means. `bun run` changes to the root of the clone, and says in
 * npm_config_local_prefix from where; other callers say it in PWD.
 */
export function pathFromShell(path: string, environment: Environment = process.env): string {
  const root = resolve(import.meta.dir, "..");
  if (process.cwd() !== root) return resolve(path);
  const isScript = environment["npm_lifecycle_event"] !== undefined;
  const shell = environment[isScript ? "npm_config_local_prefix" : "PWD"] ?? root;
  const isInside = existsSync(shell) && `${realpathSync(shell)}/`.startsWith(`${root}/`);
  return resolve(isInside ? realpathSync(shell) : root, path);
}

/**
 * Reads CLUSTER, NODE_NAME, and CLUSTER_AUTH, which belong together; null if none is set. `url` is the origin of the local
 * rqlite node, `name` that of this server, and `credentials` are `user:password`; null if the nodes require none.
 */
export function readCluster(
  environment: Environment = process.env,
): { readonly url: string; readonly name: string; readonly credentials: string | null } | null {
  const url = given(environment, "CLUSTER");
  const name = given(environment, "NODE_NAME");
  const auth = given(environment, "CLUSTER_AUTH");
  const accepts = "the address of the local rqlite node";
  if (url === null) {
    if (name !== null) throw wrong("CLUSTER", "", `${accepts}, because NODE_NAME is set`);
    if (auth !== null) throw wrong("CLUSTER", "", `${accepts}, because CLUSTER_AUTH is set`);
    return null;
  }
  const origin = originIn(url);
  if (origin === null) throw wrong("CLUSTER", url, `${accepts}, such as http://127.0.0.1:4001`);
  if (name === null) throw wrong("NODE_NAME", "", "a name for this server, such as n1, because CLUSTER is set");
  if (!/^[\w.-]{1,64}$/.test(name)) {
    throw wrong("NODE_NAME", name, "up to 64 letters, digits, dots, hyphens, and underscores");
  }
  return { url: origin, name, credentials: auth === null ? null : readCredentials(auth) };
}

function readCredentials(path: string): string {
  const accepts = "the path of a file with one line, user:password";
  const line = readSettingFile("CLUSTER_AUTH", path, accepts).trim();
  if (!/^[^:\s]+:\S+$/.test(line)) throw wrong("CLUSTER_AUTH", path, accepts);
  return line;
}

/**
 * Reads the settings of the daily backups; null if BACKUP_TO is not set. All of them are checked in any case. `to` is a
 * folder or `s3://bucket/prefix`, `at` a local time, and `recipient` null if backups are not encrypted.
 */
export function readBackups(environment: Environment = process.env) {
  const to = given(environment, "BACKUP_TO");
  const at = text(environment, "BACKUP_AT");
  const keep = wholeNumber(environment, "BACKUP_KEEP", 1, 100_000);
  const recipient = readRecipient(environment);
  const [, hour = "", minute = ""] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(at) ?? [];
  if (hour === "") throw wrong("BACKUP_AT", at, "a time of day, such as 03:15");
  if (to === null) return null;
  if (/^s3:/i.test(to)) {
    if (!/^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:\/[^\s?#]*)?$/.test(to)) {
      throw wrong(
        "BACKUP_TO",
        to,
        "a folder, or s3://bucket/prefix with a bucket of 3 to 63 a-z, 0-9, dots, and hyphens",
      );
    }
    if (recipient === null) {
      throw wrong("BACKUP_RECIPIENT", "", "an age recipient (age1…), because backups in s3:// must be encrypted");
    }
  }
  return { to, at: { hour: Number(hour), minute: Number(minute) }, keep, recipient };
}

/** Reads BACKUP_RECIPIENT only, for backups by hand; null if it is not set. */
export function readRecipient(environment: Environment = process.env): string | null {
  const recipient = given(environment, "BACKUP_RECIPIENT");
  // A value of another form may be the secret identity itself.
  if (recipient !== null && !/^age1[02-9ac-hj-np-z]{58}$/.test(recipient)) {
    throw wrong("BACKUP_RECIPIENT", null, "an age recipient, which begins with age1 (age-keygen prints one)");
  }
  return recipient;
}

/**
 * Reads the AWS variables, which commands use for any `s3://`. `endpoint` is null for AWS itself. Throws a UserError that
 * names the variable that is missing or wrong.
 */
export function readS3Settings(environment: Environment = process.env) {
  const value = (name: string) => environment[name]?.trim() || null;
  const needed = (name: string): string => {
    const found = value(name);
    if (found !== null) return found;
    throw new UserError(`${name} is not set.`, "s3:// needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.", 2);
  };
  const endpoint = value("AWS_ENDPOINT_URL");
  if (endpoint !== null && !isHttpUrl(endpoint)) {
    throw new UserError(
      "AWS_ENDPOINT_URL is not an http or https address.",
      "Set it to an address such as https://s3.example.com.",
      2,
    );
  }
  return {
    endpoint,
    region: value("AWS_REGION") ?? "us-east-1",
    accessKeyId: needed("AWS_ACCESS_KEY_ID"),
    secretAccessKey: needed("AWS_SECRET_ACCESS_KEY"),
  };
}

function readBaseUrl(environment: Environment): string | null {
  const value = given(environment, "BASE_URL");
  if (value === null) return null;
  const origin = originIn(value);
  if (origin !== null) return origin;
  const accepts = "an origin alone, such as https://www.example.com, with http or https and without a path";
  throw wrong("BASE_URL", value, accepts);
}

/** Reads INBOX_KEEP_DAYS only: a wrong PORT must not keep an inbox from importing. Null is off. */
export function readInboxKeepDays(environment: Environment = process.env): number | null {
  const value = text(environment, "INBOX_KEEP_DAYS");
  if (value === "off") return null;
  if (/^\d{1,5}$/.test(value) && Number(value) >= 1) return Number(value);
  throw wrong("INBOX_KEEP_DAYS", value, "a whole number from 1 to 99999, or off");
}

/** Reads an address. Its path or query is often secret, so its value is never shown. */
function readUrl(environment: Environment, name: SettingName): string | null {
  const value = given(environment, name);
  if (value === null || isHttpUrl(value)) return value;
  throw wrong(name, null, "an http or https address");
}

function isHttpUrl(value: string): boolean {
  return URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
}

/** Reads the texts of TLS_CERT and TLS_KEY; null if neither is set. Throws a UserError if they are not a PEM pair. */
function readTlsPair(environment: Environment): { readonly cert: string; readonly key: string } | null {
  const certPath = given(environment, "TLS_CERT");
  const keyPath = given(environment, "TLS_KEY");
  if (certPath === null && keyPath === null) return null;
  if (certPath === null) throw wrong("TLS_CERT", "", "a PEM file, because TLS_KEY is set: both or neither");
  if (keyPath === null) throw wrong("TLS_KEY", "", "a PEM file, because TLS_CERT is set: both or neither");
  const cert = readPem("TLS_CERT", certPath, "CERTIFICATE");
  const key = readPem("TLS_KEY", keyPath, "PRIVATE KEY");
  let isPair: boolean;
  try {
    isPair = new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    throw wrong("TLS_CERT", certPath, "a PEM certificate that can be read, with a TLS_KEY that can");
  }
  if (!isPair) throw wrong("TLS_KEY", keyPath, "the private key of the certificate in TLS_CERT");
  return { cert, key };
}

function readPem(name: "TLS_CERT" | "TLS_KEY", path: string, holds: string): string {
  const accepts = `the path of a PEM file with a ${holds.toLowerCase()}`;
  const pem = readSettingFile(name, path, accepts);
  if (!pem.includes(`${holds}-----`)) throw wrong(name, path, accepts);
  return pem;
}

function readSettingFile(name: SettingName, path: string, accepts: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    throw wrong(name, path, `${accepts}, which this user can read`);
  }
}

/** Returns the error for a setting. A value that may be secret is passed as null. */
export function wrong(name: SettingName, value: string | null, accepts: string): UserError {
  const invalid = value === "" ? "is not set" : `is ${JSON.stringify(withoutPassword(value ?? ""))}`;
  const shown = value === null ? "has an invalid value" : invalid;
  return new UserError(`${name} ${shown}, but it takes ${accepts}.`, "", 2);
}

/** Returns whether the terminal understands no control sequences. */
export function isDumbTerminal(environment: Environment = process.env): boolean {
  return environment["TERM"] === "dumb";
}

/** Removes the user and the password from an address. */
function withoutPassword(value: string): string {
  return value.replace(/\/\/[^/]*@/, "//…@");
}

/** Returns the value of a variable. An empty one counts as unset, as a compose file passes it on. */
function given(environment: Environment, name: SettingName): string | null {
  return environment[name]?.trim() || null;
}

/** Returns the value of a variable, or its fallback. */
function text(environment: Environment, name: SettingName): string {
  return given(environment, name) ?? settings[name].fallback;
}

/** Reads a whole number within bounds, both included. */
function wholeNumber(environment: Environment, name: SettingName, min: number, max: number): number {
  const value = text(environment, name);
  const number = /^\d{1,10}$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= min && number <= max)) throw wrong(name, value, `a whole number from ${min} to ${max}`);
  return number;
}

/** Reads one of several words. */
function oneOf<Word extends string>(environment: Environment, name: SettingName, words: readonly Word[]): Word {
  const value = text(environment, name);
  const word = words.find((known) => known === value);
  if (word === undefined) throw wrong(name, value, words.join(" or ").replaceAll(/ or (?=.* or )/g, ", "));
  return word;
}

/** Returns the origin in a text, such as https://www.example.com; null if the text is anything else or more. */
function originIn(text: string): string | null {
  if (!/^https?:\/\/[^/?#@\s\\]+\/?$/i.test(text) || !URL.canParse(text)) return null;
  return new URL(text).origin;
}

/** Reads an address to listen on. */
function readHost(environment: Environment, name: SettingName): string {
  const value = text(environment, name);
  if (!/^[\w.:-]+$/.test(value)) throw wrong(name, value, "an IP address or a host name, such as 127.0.0.1");
  return value;
}

/** Returns whether only this machine can reach an address. */
export function isLoopback(host: string): boolean {
  return (
    /^(?:localhost|\[?(?:::1|(?:0:){7}1|::ffff:127\..*)\]?)$/i.test(host) ||
    (isIP(host) === 4 && host.startsWith("127."))
  );
}

/** Returns whether keys would cross the network unencrypted: other machines can reach the server, and there is no TLS. */
export function isInTheClear({ host, tls, trustProxy }: Pick<Config, "host" | "tls" | "trustProxy">): boolean {
  return !isLoopback(host) && tls === null && !trustProxy;
}

/** Returns BASE_URL, or the origin of the address. */
export function publicOrigin({ baseUrl, host, port, tls }: Config): string {
  return baseUrl ?? originOf(host, port, tls !== null);
}

/** Returns the origin at which vendors reach the webhook endpoint: BASE_URL, or the address on which it listens. */
export function receiveOrigin({ baseUrl, receiveHost, receivePort, tls }: Config): string {
  return baseUrl ?? originOf(receiveHost, receivePort, tls !== null);
}

/** Returns the origin at which this machine itself reaches the server; null if the port is chosen at each start. */
export function ownAddress({ host, port, tls }: Config): string | null {
  return port === 0 ? null : originOf(host, port, tls !== null);
}

function originOf(host: string, port: number, secure: boolean): string {
  const name = /^(?:0(?:\.0){0,3}|::|::0|(?:0:){7}0)$/.test(host) ? "localhost" : host;
  const shown = name.includes(":") ? `[${name}]` : name;
  return new URL(`${secure ? "https" : "http"}://${shown}:${port}`).origin;
}
