/** The settings (environment; Bun reads .env): the only reader of the environment. */
import { existsSync, lstatSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { defaultLimitPerMin } from "./contract/limits.ts";
import { UserError } from "./operator/user-error.ts";
import { readTlsPair, type TlsPair } from "./tls-pair.ts";

export const logLevels = ["silent", "fatal", "error", "warn", "info", "debug", "trace"] as const;
export type LogLevel = (typeof logLevels)[number];

interface Setting {
  readonly fallback: string;
  readonly meaning: string;
}

/** Every variable that Leadfile reads, as docs/operations.md lists them. */
export const settings = {
  HOST: { fallback: "127.0.0.1", meaning: "address to listen on" },
  PORT: { fallback: "3000", meaning: "port to listen on; 0 picks a free one" },
  DATABASE_PATH: { fallback: "data/leadfile.db", meaning: "the SQLite file; its folder is made" },
  BASE_URL: { fallback: "http://HOST:PORT", meaning: "public origin, for links and the redirect to www" },
  RATE_LIMIT_PER_MIN: { fallback: String(defaultLimitPerMin), meaning: "requests per key and minute" },
  LOG_LEVEL: { fallback: "info", meaning: logLevels.join(", ") },
  TRUST_PROXY: { fallback: "0", meaning: "1 believes X-Forwarded-Proto and X-Forwarded-Host" },
  METRICS: { fallback: "private", meaning: "public opens /metrics to other machines" },
  TLS_CERT: { fallback: "unset", meaning: "PEM file with the certificate; goes with TLS_KEY" },
  TLS_KEY: { fallback: "unset", meaning: "PEM file with its private key" },
  DISCLOSURES: { fallback: "on", meaning: "off keeps no record of which key received which leads" },
  INBOX: { fallback: "unset", meaning: "folder that is watched for files to import" },
  RECEIVE_HOST: { fallback: "127.0.0.1", meaning: "address on which receive listens" },
  RECEIVE_PORT: { fallback: "3001", meaning: "port on which receive listens" },
  CLUSTER: { fallback: "unset", meaning: "address of the rqlite node beside; DATABASE_PATH is its file" },
  NODE: { fallback: "unset", meaning: "name of this server in its cluster" },
  CLUSTER_AUTH: { fallback: "unset", meaning: "file with user:password for the rqlite nodes" },
} as const satisfies Record<string, Setting>;

type Name = keyof typeof settings;
type Environment = Readonly<Record<string, string | undefined>>;

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly databasePath: string;
  /** The public origin as it was set; null derives it from the address that the server gets. */
  readonly baseUrl: string | null;
  readonly rateLimitPerMin: number;
  readonly logLevel: LogLevel;
  readonly trustProxy: boolean;
  readonly publicMetrics: boolean;
  readonly tls: TlsPair | null;
  /** Whether it is kept which key received which leads. */
  readonly disclosures: boolean;
  /** The folder that is watched for files to import; null where there is none. */
  readonly inbox: string | null;
  /** Where `receive` listens. */
  readonly receiveHost: string;
  readonly receivePort: number;
  readonly cluster: ClusterConfig | null;
}

/** The place in a cluster; without one the file is this server's own. */
export interface ClusterConfig {
  /** The origin of the rqlite node beside. */
  readonly url: string;
  /** The name of this server. */
  readonly name: string;
  /** `user:password`; null where the nodes ask for none. */
  readonly credentials: string | null;
}

const readers: { readonly [Name in keyof Config]: (environment: Environment) => Config[Name] } = {
  host: (environment) => readHost(environment, "HOST"),
  port: (environment) => readPort(environment, "PORT"),
  databasePath: readDatabasePath,
  baseUrl: readBaseUrl,
  rateLimitPerMin: (environment) => wholeNumber(environment, "RATE_LIMIT_PER_MIN", 1, 1_000_000_000),
  logLevel: (environment) => oneOf(environment, "LOG_LEVEL", logLevels),
  trustProxy: (environment) => oneOf(environment, "TRUST_PROXY", ["0", "1"]) === "1",
  publicMetrics: (environment) => oneOf(environment, "METRICS", ["private", "public"]) === "public",
  tls: readTls,
  disclosures: (environment) => oneOf(environment, "DISCLOSURES", ["on", "off"]) === "on",
  inbox: (environment) => given(environment, "INBOX"),
  receiveHost: (environment) => readHost(environment, "RECEIVE_HOST"),
  receivePort: (environment) => readPort(environment, "RECEIVE_PORT"),
  cluster: readCluster,
};

/** Reads all settings; throws a UserError that names the first wrong one, what it was and what is accepted. */
export function readConfig(environment: Environment = process.env): Config {
  const read = Object.entries(readers).map(([name, reader]) => [name, reader(environment)]);
  return Object.fromEntries(read) as Config; // The readers have every name, and what each reads.
}

/** The refusal of every wrong setting, where a start would stop at the first. */
export function settingFaults(environment: Environment = process.env): UserError[] {
  return Object.values(readers).flatMap((reader) => {
    try {
      reader(environment);
      return [];
    } catch (cause) {
      if (cause instanceof UserError) return [cause];
      throw cause;
    }
  });
}

/** The settings of a demonstration: its own file whatever is set, so that made-up leads never mix with real ones. */
export function readDemoConfig(environment: Environment = process.env): Config {
  const quiet = given(environment, "LOG_LEVEL") ?? "warn";
  return readConfig({ ...environment, DATABASE_PATH: "data/demo.db", LOG_LEVEL: quiet });
}

/** The file alone, for commands that need nothing else: a wrong PORT must not keep anybody from revoking a key. */
export function readDatabasePath(environment: Environment = process.env): string {
  const value = text(environment, "DATABASE_PATH");
  // SQLite would take these for a database in memory, which nobody finds again.
  if (!/^(?::memory:|file:)/.test(value)) return behindLink(value);
  throw wrong("DATABASE_PATH", value, "the path of a file, such as data/leadfile.db");
}

/** Where a link leads: SQLite keeps the log beside the file itself, and two names of it must not get two servers. */
function behindLink(path: string): string {
  try {
    if (!lstatSync(path).isSymbolicLink()) return path;
    return existsSync(path) ? realpathSync(path) : resolve(dirname(path), readlinkSync(path));
  } catch {
    // Whoever opens it says why it cannot be.
    return path;
  }
}

/** The key that a client of some server uses; no setting of the server. */
export function readClientKey(environment: Environment = process.env): string | null {
  return environment["LEADFILE_KEY"]?.trim() || null;
}

/** What a client signs with that posts leads; no setting of the server. */
export function readPostSecret(environment: Environment = process.env): string | null {
  return environment["LEADFILE_POST_SECRET"]?.trim() || null;
}

/** The environment for a command that is given leads: it needs neither the key nor the secret. */
export function withoutSecrets(
  { LEADFILE_KEY, LEADFILE_POST_SECRET, ...rest }: Environment = process.env,
): Environment {
  return rest;
}

function wrong(name: Name, value: string, accepts: string): UserError {
  return new UserError(`${name} is ${JSON.stringify(value)}, but it takes ${accepts}.`, "", 2);
}

/** A variable that is set to nothing counts as unset, as in a compose file that passes it on. */
function given(environment: Environment, name: Name): string | null {
  const value = environment[name]?.trim();
  return value === undefined || value === "" ? null : value;
}

function text(environment: Environment, name: Name): string {
  return given(environment, name) ?? settings[name].fallback;
}

function wholeNumber(environment: Environment, name: Name, least: number, most: number): number {
  const value = text(environment, name);
  const number = /^\d{1,10}$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= least && number <= most)) throw wrong(name, value, `a whole number from ${least} to ${most}`);
  return number;
}

function oneOf<Word extends string>(environment: Environment, name: Name, words: readonly Word[]): Word {
  const value = text(environment, name);
  const word = words.find((known) => known === value);
  if (word === undefined) throw wrong(name, value, words.join(" or ").replaceAll(/ or (?=.* or )/g, ", "));
  return word;
}

function readPort(environment: Environment, name: Name): number {
  return wholeNumber(environment, name, 0, 65_535);
}

function readHost(environment: Environment, name: Name): string {
  const value = text(environment, name);
  if (!/^[\w.:-]+$/.test(value)) throw wrong(name, value, "an IP address or a host name, such as 127.0.0.1");
  return value;
}

function readBaseUrl(environment: Environment): string | null {
  const value = given(environment, "BASE_URL");
  if (value === null) return null;
  const accepts = "an origin alone, such as https://www.example.com, with http or https and without a path";
  const url = URL.canParse(value) ? new URL(value) : null;
  const isOrigin = url !== null && /^https?:\/\/[^/?#@\s\\]+\/?$/i.test(value);
  if (!isOrigin) throw wrong("BASE_URL", value, accepts);
  return url.origin;
}

function readTls(environment: Environment): TlsPair | null {
  const paths = { TLS_CERT: given(environment, "TLS_CERT"), TLS_KEY: given(environment, "TLS_KEY") };
  if (paths.TLS_CERT === null && paths.TLS_KEY === null) return null;
  const read = readTlsPair(paths);
  if ("accepts" in read) throw wrong(read.name, paths[read.name] ?? "", read.accepts);
  return read;
}

/** The place in a cluster alone, for commands; null where the file is no node's. */
export function readCluster(environment: Environment = process.env): ClusterConfig | null {
  const url = given(environment, "CLUSTER");
  const name = given(environment, "NODE");
  const auth = given(environment, "CLUSTER_AUTH");
  if (url === null) {
    if (name !== null) throw wrong("CLUSTER", "", "the address of the rqlite node beside, because NODE is set");
    if (auth !== null) throw wrong("CLUSTER", "", "the address of the rqlite node beside, because CLUSTER_AUTH is set");
    return null;
  }
  if (!/^https?:\/\/[^/?#@\s\\]+\/?$/i.test(url) || !URL.canParse(url)) {
    throw wrong("CLUSTER", url, "the address of the rqlite node beside, such as http://127.0.0.1:4001");
  }
  if (name === null) throw wrong("NODE", "", "a name for this server, such as n1, because CLUSTER is set");
  if (!/^[\w.-]{1,64}$/.test(name))
    throw wrong("NODE", name, "up to 64 letters, digits, dots, hyphens and underscores");
  return { url: new URL(url).origin, name, credentials: auth === null ? null : readCredentials(auth) };
}

function readCredentials(path: string): string {
  const accepts = "the path of a file with one line, user:password";
  let line: string;
  try {
    line = readFileSync(path, "utf8").trim();
  } catch {
    throw wrong("CLUSTER_AUTH", path, `${accepts}, that can be read`);
  }
  if (!/^[^:\s]+:\S+$/.test(line)) throw wrong("CLUSTER_AUTH", path, accepts);
  return line;
}
