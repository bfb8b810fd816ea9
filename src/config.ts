/** The only reader of the environment and of .env: the settings, and what the shell says of itself. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { existsSync, lstatSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parseEnv } from "node:util";
import { UserError } from "./runtime/user-error.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The values that a setting takes. */
interface Kind<Value> {
  /** Completes `it takes …` in a message. */
  readonly accepts: string;
  /** Returns undefined for an invalid text. */
  readonly parse: (text: string) => Value | undefined;
  /** No message shows its value. */
  readonly isSecret?: true;
}

interface Setting<Value> extends Omit<Kind<Value>, "parse"> {
  readonly fallback: string;
  readonly meaning: string;
  /** Takes null for a variable that is not set. */
  readonly parse: (text: string | null) => Value | undefined;
}

function setting<Value>(fallback: string, meaning: string, kind: Kind<Value>): Setting<Value> {
  return { ...kind, fallback, meaning, parse: (text) => kind.parse(text ?? fallback) };
}

/** A setting that is null if it is not set. */
function optional<Value>(meaning: string, kind: Kind<Value>, fallback = "unset"): Setting<Value | null> {
  return { ...kind, fallback, meaning, parse: (text) => (text === null ? null : kind.parse(text)) };
}

function matching(pattern: RegExp, accepts: string): Kind<string> {
  return { accepts, parse: (text) => (pattern.test(text) ? text : undefined) };
}

/** A whole number within bounds, both included. */
function wholeNumber(min: number, max: number): Kind<number> {
  const parse = (text: string) => {
    const number = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    return number >= min && number <= max ? number : undefined;
  };
  return { accepts: `a whole number from ${min} to ${max}`, parse };
}

function oneOf<Word extends string>(...words: readonly Word[]): Kind<Word> {
  const accepts = words.join(" or ").replaceAll(/ or (?=.* or )/g, ", ");
  return { accepts, parse: (text) => words.find((word) => word === text) };
}

/** The text of a file, which has a mark of its kind. */
function fileWith(mark: RegExp, what: string): Kind<string> {
  const parse = (path: string) => {
    const text = textIfReadable(path);
    return mark.test(text) ? text : undefined;
  };
  return { accepts: `the path of a ${what}, which this user can read`, parse };
}

const address = matching(/^[\w.:-]+$/, "an IP address or a host name, such as 127.0.0.1");
/** The path or the query of the URL is often secret. */
const secretUrl: Kind<string> = {
  accepts: "an http or https address",
  parse: (text) => (isHttpUrl(text) ? text : undefined),
  isSecret: true,
};
const token: Kind<string> = { ...matching(/^[!-~]+$/, "a word of visible ASCII characters"), isSecret: true };
const databaseFile: Kind<string> = {
  accepts: "the path of a file, such as data/leadfile.db",
  parse(path) {
    // SQLite would take the first two for a database in memory, which is lost at the end.
    if (/^(?::memory:|file:)|\/$/.test(path)) return undefined;
    return existsSync(path) && statSync(path).isDirectory() ? undefined : followLink(path);
  },
};
const daysOrOff: Kind<number | null> = {
  accepts: "a whole number from 1 to 99999, or off",
  parse: (text) => (text === "off" ? null : wholeNumber(1, 99_999).parse(text)),
};
const timeOfDay: Kind<{ readonly hour: number; readonly minute: number }> = {
  accepts: "a time of day, such as 03:15",
  parse(text) {
    const [, hour, minute] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
    return hour === undefined ? undefined : { hour: Number(hour), minute: Number(minute) };
  },
};
const logLevel = oneOf("silent", "fatal", "error", "warn", "info", "debug", "trace");
const origin: Kind<string> = {
  accepts: "an origin alone, such as https://www.example.com, with http or https and without a path",
  parse: originIn,
};
const nodeAddress = { ...origin, accepts: "the address of the local rqlite node, such as http://127.0.0.1:4001" };
const nodeName = matching(
  /^[\w.-]{1,64}$/,
  "a name of up to 64 letters, digits, dots, hyphens, and underscores, such as n1",
);
const place = matching(
  /^(?![sS]3:)|^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:\/[^\s?#]*)?$/,
  "a folder, or s3://bucket/prefix with a bucket of 3 to 63 a-z, 0-9, dots, and hyphens",
);
/** Returns whether the last characters of an age recipient fit the others. Only then the library is loaded. */
function hasChecksum(text: string): boolean {
  const { bech32 }: typeof import("@scure/base") = require("@scure/base");
  return bech32.decodeUnsafe(text) !== undefined;
}

/** A value of another form may be the secret identity itself. */
const recipient: Kind<string> = {
  accepts: "an age recipient without a typing error, which begins with age1 (age-keygen prints one)",
  parse: (text) => (/^age1[02-9ac-hj-np-z]{58}$/.test(text) && hasChecksum(text) ? text : undefined),
  isSecret: true,
};
const mailAddress = matching(/^[^\s@<>,;:"]+@[^\s@<>,;:"]+$/, "one email address");
/** The password in the URL is secret. */
const mailServer: Kind<string> = {
  accepts: "the address of a mail server, such as smtps://user:password@smtp.example.com",
  // Options behind a ? could turn off the check of certificates.
  parse: (text) => (/^smtps?:\/\/[^\s/?#]+\/?$/.test(text) && URL.canParse(text) ? text : undefined),
  isSecret: true,
};

/** Every variable that is a setting of the server, as docs/operations.md lists them. */
export const settings = {
  HOST: setting("127.0.0.1", "address to listen on", address),
  PORT: setting("3000", "port to listen on; 0 picks a free one", wholeNumber(0, 65_535)),
  DATABASE_PATH: setting("data/leadfile.db", "the SQLite file; its folder is created", databaseFile),
  BASE_URL: optional("public origin, for links and the redirect to www", origin, "http://HOST:PORT"),
  RATE_LIMIT_PER_MIN: setting("60", "requests per key and minute", wholeNumber(1, 1_000_000_000)),
  LOG_LEVEL: setting("info", "silent, fatal, error, warn, info, debug, trace", logLevel),
  TRUST_PROXY: setting("0", "1 trusts X-Forwarded-Proto and X-Forwarded-Host", oneOf("0", "1")),
  METRICS: setting("private", "public opens /metrics to other machines", oneOf("private", "public")),
  METRICS_TOKEN: optional("token with which requests can read /metrics (Authorization: Bearer)", token),
  TLS_CERT: optional(
    "PEM file with the certificate; requires TLS_KEY",
    fileWith(/CERTIFICATE-----/, "PEM file with a certificate"),
  ),
  TLS_KEY: optional("PEM file with its private key", fileWith(/PRIVATE KEY-----/, "PEM file with a private key")),
  DISCLOSURES: setting("on", "off keeps no record of which key received which leads", oneOf("on", "off")),
  INBOX: optional("folder to watch for files to import", matching(/./, "a folder")),
  INBOX_KEEP_DAYS: setting("30", "days after which imported files are deleted; off keeps them", daysOrOff),
  RECEIVE_HOST: setting("127.0.0.1", "address on which receive listens", address),
  RECEIVE_PORT: setting("3001", "port on which receive listens", wholeNumber(0, 65_535)),
  CLUSTER: optional("address of the local rqlite node; DATABASE_PATH is its file", nodeAddress),
  NODE_NAME: optional("name of this server in its cluster", nodeName),
  CLUSTER_AUTH: optional(
    "file with user:password for the rqlite nodes",
    fileWith(/^[^:\s]+:\S+\s*$/, "file with one line, user:password"),
  ),
  BACKUP_TO: optional("folder or s3://bucket/prefix for daily backups", place),
  BACKUP_AT: setting("03:15", "local time of the daily backup", timeOfDay),
  BACKUP_KEEP: setting("14", "number of backups to keep", wholeNumber(1, 100_000)),
  BACKUP_RECIPIENT: optional("age recipient (age1…) for whom backups are encrypted", recipient),
  ALERT_URL: optional("URL to which findings of doctor are posted", secretUrl),
  ALERT_PING_URL: optional("URL that is requested after each verified backup", secretUrl),
  ALERT_MAIL_TO: optional("email address that also receives the alerts; requires SMTP_URL", mailAddress),
  SMTP_URL: optional("mail server that sends the alerts (smtps://user:password@host)", mailServer),
} satisfies Record<string, Setting<unknown>>;

type SettingName = keyof typeof settings;
type ValueOf<Name extends SettingName> = (typeof settings)[Name] extends Setting<infer Value> ? Value : never;

/** Returns the environment, with the settings of .env in this folder that it does not have. Nothing else of that file counts. */
function ownEnvironment(): Environment {
  const written = Object.entries(parseEnv(textIfReadable(".env")));
  const counting = written.filter(([name]) => Object.hasOwn(settings, name) || name.startsWith("AWS_"));
  return { ...Object.fromEntries(counting), ...process.env };
}

/**
 * Removes the variables that Bun took from the .env files of the folder: the author of those files could choose the proxy
 * of a program that holds a key. TLS certificates are verified in any case.
 */
export function forgetFolder(): void {
  if (!Bun.isStandaloneExecutable) {
    const isOwn = ownVariables();
    for (const name of Object.keys(process.env)) if (!isOwn(name)) delete process.env[name];
  }
  delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
}

/** Returns whether this process was started with a variable. Where the kernel does not tell, a name in a file is not one. */
function ownVariables(): (name: string) => boolean {
  const started = textIfReadable("/proc/self/environ").split("\0");
  if (started.length > 1) {
    const names = new Set(started.map((pair) => pair.split("=", 1)[0]));
    return (name) => names.has(name);
  }
  const files = ["", ".local", ".development", ".production", ".test"].map((end) => textIfReadable(`.env${end}`));
  const written = parseEnv(files.join("\n"));
  return (name) => !Object.hasOwn(written, name);
}

/** Settings that work only together with another one. */
const partners: Partial<Record<SettingName, SettingName>> = {
  ...{ TLS_CERT: "TLS_KEY", TLS_KEY: "TLS_CERT" },
  ...{ CLUSTER: "NODE_NAME", NODE_NAME: "CLUSTER", CLUSTER_AUTH: "CLUSTER" },
  ...{ ALERT_MAIL_TO: "SMTP_URL", SMTP_URL: "ALERT_MAIL_TO" },
};

/** Reads a setting. Throws a UserError if it is invalid, or if its partner is not set. */
function read<Name extends SettingName>(name: Name, environment: Environment): ValueOf<Name> {
  const { parse, accepts, isSecret, fallback } = settings[name];
  const text = given(environment, name);
  const partner = partners[name];
  if (text !== null && partner !== undefined && given(environment, partner) === null) {
    throw invalidSetting(partner, "", `${settings[partner].accepts}, because ${name} is set`);
  }
  const value = parse(text);
  if (value === undefined) throw invalidSetting(name, isSecret === true ? null : (text ?? fallback), accepts);
  return value as ValueOf<Name>; // The setting of a name parses its value.
}

/** Returns the reader of one setting: a wrong PORT must not keep anybody from revoking a key. */
function reader<Name extends SettingName>(name: Name) {
  return (environment: Environment = ownEnvironment()) => read(name, environment);
}

export const readDatabasePath = reader("DATABASE_PATH");
export const readAlertUrl = reader("ALERT_URL");
/** Reads INBOX_KEEP_DAYS; null is off. */
export const readInboxKeepDays = reader("INBOX_KEEP_DAYS");

const readers = {
  host: reader("HOST"),
  port: reader("PORT"),
  databasePath: readDatabasePath,
  /** The public origin; null if the address of the server is used. */
  baseUrl: reader("BASE_URL"),
  rateLimitPerMin: reader("RATE_LIMIT_PER_MIN"),
  logLevel: reader("LOG_LEVEL"),
  trustProxy: (environment: Environment) => read("TRUST_PROXY", environment) === "1",
  publicMetrics: (environment: Environment) => read("METRICS", environment) === "public",
  metricsToken: reader("METRICS_TOKEN"),
  tls: readTlsPair,
  /** True if the ledger records which key received which leads. */
  disclosures: (environment: Environment) => read("DISCLOSURES", environment) === "on",
  /** The folder to watch for files to import; null if there is none. */
  inbox: reader("INBOX"),
  inboxKeepDays: readInboxKeepDays,
  receiveHost: reader("RECEIVE_HOST"),
  receivePort: reader("RECEIVE_PORT"),
  cluster: readCluster,
  backups: readBackups,
  alertUrl: readAlertUrl,
  alertMail: readAlertMail,
  alertPingUrl: reader("ALERT_PING_URL"),
};

/** All settings, each parsed and checked. */
export type Config = { readonly [Name in keyof typeof readers]: ReturnType<(typeof readers)[Name]> };
export type ClusterConfig = NonNullable<Config["cluster"]>;
export type BackupConfig = NonNullable<Config["backups"]>;

/** Reads all settings. Throws a UserError that names the first invalid one, its value, and the accepted values. */
export function readConfig(environment: Environment = ownEnvironment()): Config {
  const read = Object.entries(readers).map(([name, reader]) => [name, reader(environment)]);
  return Object.fromEntries(read) as Config; // There is a reader for every setting, and its result has the type of the setting.
}

/** Reads all settings for a command that works without them. If any is invalid, `config` is null, and `faults` has the errors. */
export function examineSettings(environment: Environment = ownEnvironment()): {
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

/**
 * Reads the settings of a demonstration, which uses and names nothing real. It has its own file, so that made-up leads never
 * mix with real ones.
 */
export function readDemoConfig(environment: Environment = ownEnvironment()): Config {
  return readConfig({
    ...environment,
    ...{ BASE_URL: "", INBOX: "", CLUSTER: "", NODE_NAME: "", CLUSTER_AUTH: "" },
    ...{ BACKUP_TO: "", BACKUP_RECIPIENT: "", ALERT_URL: "", ALERT_PING_URL: "" },
    ...{ DATABASE_PATH: "data/demo.db", LOG_LEVEL: given(environment, "LOG_LEVEL") ?? "warn" },
  });
}

/** The settings of the service that deploy/install.sh installs. */
const serviceSettings = "/etc/leadfile.env";

/** Throws a UserError if a second database would be created next to that of the service of this machine. */
export function refuseSecondDatabase(path: string, environment: Environment = ownEnvironment()): void {
  if (given(environment, "DATABASE_PATH") !== null || existsSync(path)) return;
  const [, served = null] = /^DATABASE_PATH=["']?([^"'\n]+)/m.exec(textIfReadable(serviceSettings)) ?? [];
  if (served === null || resolve(served) === resolve(path)) return;
  throw new UserError(
    `There is no database at ${resolve(path)}, and ${serviceSettings} names ${served}, the database of the service on this machine.`,
    "Run leadfile-admin with the same arguments, or set DATABASE_PATH to create another database.",
  );
}

/** Returns the text of a file; empty if there is none, or if this user may not read it. */
function textIfReadable(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // The caller says which file is accepted.
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
export function pathFromShell(path: string, environment: Environment = ownEnvironment()): string {
  const root = resolve(import.meta.dir, "..");
  if (process.cwd() !== root) return resolve(path);
  const isScript = environment["npm_lifecycle_event"] !== undefined;
  const shell = environment[isScript ? "npm_config_local_prefix" : "PWD"] ?? root;
  const isInside = existsSync(shell) && `${realpathSync(shell)}/`.startsWith(`${root}/`);
  return resolve(isInside ? realpathSync(shell) : root, path);
}

/** Returns the environment for another process of this program. */
export function processEnvironment(environment: Environment = process.env): Environment {
  return environment;
}

/** Returns whether the terminal understands no control sequences. */
export function isDumbTerminal(environment: Environment = ownEnvironment()): boolean {
  return environment["TERM"] === "dumb";
}

/**
 * Reads CLUSTER, NODE_NAME, and CLUSTER_AUTH; null if they are not set. `url` is the origin of the local rqlite node, `name`
 * that of this server, and `credentials` are `user:password`; null if the nodes require none.
 */
export function readCluster(environment: Environment = ownEnvironment()) {
  const [url, name] = [read("CLUSTER", environment), read("NODE_NAME", environment)];
  const credentials = read("CLUSTER_AUTH", environment)?.trim() ?? null;
  return url === null || name === null ? null : { url, name, credentials };
}

/**
 * Reads the settings of the daily backups; null if BACKUP_TO is not set. All of them are checked in any case. `to` is a
 * folder or `s3://bucket/prefix`, `at` a local time, and `recipient` null if backups are not encrypted.
 */
export function readBackups(environment: Environment = ownEnvironment()) {
  const [to, at] = [read("BACKUP_TO", environment), read("BACKUP_AT", environment)];
  const [keep, recipient] = [read("BACKUP_KEEP", environment), readRecipient(to, environment)];
  if (to !== null && isS3(to)) readS3Access(environment);
  return to === null ? null : { to, at, keep, recipient };
}

/** Reads the address to which alerts are mailed, and the server that takes the mail; null if they are not set. */
export function readAlertMail(environment: Environment = process.env) {
  const [to, server] = [read("ALERT_MAIL_TO", environment), read("SMTP_URL", environment)];
  return to === null || server === null ? null : { to, server };
}

/** Reads the recipient of backups in a place; null if they are not encrypted. Throws a UserError if they must be. */
export function readRecipient(place: string | null, environment: Environment = ownEnvironment()): string | null {
  const recipient = read("BACKUP_RECIPIENT", environment);
  const accepts = `${settings.BACKUP_RECIPIENT.accepts}, because backups in s3:// must be encrypted`;
  if (recipient === null && place !== null && isS3(place)) throw invalidSetting("BACKUP_RECIPIENT", "", accepts);
  return recipient;
}

/** Returns whether a word names a place in an object store. */
export function isS3(place: string): boolean {
  return place.startsWith("s3://");
}

/**
 * Reads the AWS variables for places in `s3://`. `endpoint` is null for AWS itself. Throws a UserError that names the variable
 * that is missing or wrong.
 */
export function readS3Access(environment: Environment = ownEnvironment()) {
  const needed = (name: string): string => {
    const value = given(environment, name);
    if (value !== null) return value;
    throw new UserError(`${name} is not set.`, "s3:// needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.", 2);
  };
  const endpoint = given(environment, "AWS_ENDPOINT_URL");
  if (endpoint !== null && !isHttpUrl(endpoint)) {
    const advice = "Set it to an address such as https://s3.example.com.";
    throw new UserError("AWS_ENDPOINT_URL is not an http or https address.", advice, 2);
  }
  const [accessKeyId, secretAccessKey] = [needed("AWS_ACCESS_KEY_ID"), needed("AWS_SECRET_ACCESS_KEY")];
  return { endpoint, region: given(environment, "AWS_REGION") ?? "us-east-1", accessKeyId, secretAccessKey };
}

function isHttpUrl(value: string): boolean {
  return URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
}

/** Reads the texts of TLS_CERT and TLS_KEY; null if neither is set. Throws a UserError if they are not a PEM pair. */
function readTlsPair(environment: Environment): { readonly cert: string; readonly key: string } | null {
  const [cert, key] = [read("TLS_CERT", environment), read("TLS_KEY", environment)];
  if (cert === null || key === null) return null;
  try {
    if (new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) return { cert, key };
  } catch {
    const accepts = "a PEM certificate that can be read, with a TLS_KEY that can";
    throw invalidSetting("TLS_CERT", given(environment, "TLS_CERT"), accepts);
  }
  throw invalidSetting("TLS_KEY", given(environment, "TLS_KEY"), "the private key of the certificate in TLS_CERT");
}

/** Returns the error for a setting. A value that may be secret is passed as null. */
export function invalidSetting(name: SettingName, value: string | null, accepts: string): UserError {
  const invalid = value === "" ? "is not set" : `is ${JSON.stringify(withoutPassword(value ?? ""))}`;
  const shown = value === null ? "has an invalid value" : invalid;
  return new UserError(`${name} ${shown}, but it takes ${accepts}.`, "", 2);
}

/** Removes the user and the password from an address. */
function withoutPassword(value: string): string {
  return value.replace(/\/\/[^/]*@/, "//…@");
}

/** Returns the value of a variable. An empty one counts as unset, as a compose file passes it on. */
function given(environment: Environment, name: string): string | null {
  return environment[name]?.trim() || null;
}

/** Returns the origin in a text, such as https://www.example.com; undefined if the text is anything else or more. */
function originIn(text: string): string | undefined {
  if (!/^https?:\/\/[^/?#@\s\\]+\/?$/i.test(text) || !URL.canParse(text)) return undefined;
  return new URL(text).origin;
}
