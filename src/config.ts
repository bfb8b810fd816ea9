/** The settings (environment; Bun reads .env): the only reader of the environment. */
import { existsSync, lstatSync, readFileSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import {
  type Environment,
  given,
  oneOf,
  originIn,
  readHost,
  readPort,
  text,
  wholeNumber,
  wrong,
} from "./config/settings.ts";
import { readTlsSettings, type TlsPair } from "./config/tls-pair.ts";
import { type LogLevel, logLevels } from "./operator/log.ts";
import { UserError } from "./user-error.ts";

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly databasePath: string;
  /** The public origin; null where none is set, and the address of the server is used. */
  readonly baseUrl: string | null;
  readonly rateLimitPerMin: number;
  readonly logLevel: LogLevel;
  readonly trustProxy: boolean;
  readonly publicMetrics: boolean;
  readonly tls: TlsPair | null;
  /** Whether the ledger keeps which key received which leads. */
  readonly disclosures: boolean;
  /** The folder that is watched for files to import; null where there is none. */
  readonly inbox: string | null;
  /** Where `receive` listens. */
  readonly receiveHost: string;
  readonly receivePort: number;
  readonly cluster: ClusterConfig | null;
}

/** The place of this server in a cluster. */
export interface ClusterConfig {
  /** The origin of the local rqlite node. */
  readonly url: string;
  /** The name of this server. */
  readonly name: string;
  /** `user:password`; null if the nodes ask for none. */
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
  tls: readTlsSettings,
  disclosures: (environment) => oneOf(environment, "DISCLOSURES", ["on", "off"]) === "on",
  inbox: (environment) => given(environment, "INBOX"),
  receiveHost: (environment) => readHost(environment, "RECEIVE_HOST"),
  receivePort: (environment) => readPort(environment, "RECEIVE_PORT"),
  cluster: readCluster,
};

/** Reads all settings; throws a UserError that names the first wrong one, what it was and what is accepted. */
export function readConfig(environment: Environment = process.env): Config {
  const read = Object.entries(readers).map(([name, reader]) => [name, reader(environment)]);
  return Object.fromEntries(read) as Config; // There is a reader for every setting, and its result has the type of the setting.
}

/** All wrong settings, where a start stops at the first. */
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

/** The settings for a command that works without them: null if any of them is wrong, and what is wrong. */
export function examineSettings(): { readonly config: Config | null; readonly faults: readonly UserError[] } {
  const faults = settingFaults();
  return { config: faults.length === 0 ? readConfig() : null, faults };
}

/** What a demonstration takes from nobody's environment: it neither touches nor names what is real. */
const unsetInDemo = { BASE_URL: "", INBOX: "", CLUSTER: "", NODE: "", CLUSTER_AUTH: "" };

/** The settings of a demonstration. It has a file of its own, so that made-up leads never mix with real ones. */
export function readDemoConfig(environment: Environment = process.env): Config {
  const logLevel = given(environment, "LOG_LEVEL") ?? "warn";
  return readConfig({ ...environment, ...unsetInDemo, DATABASE_PATH: "data/demo.db", LOG_LEVEL: logLevel });
}

/** The environment of a server of a demonstration on this machine, with settings of its own. */
export function demoServerEnvironment(
  own: Readonly<Record<string, string>>,
  environment: Environment = process.env,
): Environment {
  return { ...environment, ...unsetInDemo, HOST: "127.0.0.1", TLS_CERT: "", TLS_KEY: "", ...own };
}

/** The file alone, for commands: a wrong PORT must not keep anybody from revoking a key. */
export function readDatabasePath(environment: Environment = process.env): string {
  const value = text(environment, "DATABASE_PATH");
  // SQLite would take the first two for a database in memory, which is lost at the end.
  if (!/^(?::memory:|file:)|\/$/.test(value) && !isFolder(value)) return behindLink(value);
  throw wrong("DATABASE_PATH", value, "the path of a file, such as data/leadfile.db");
}

function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}

/** Follows links: SQLite keeps the log beside the real file, and two names of one file must not get two servers. */
function behindLink(path: string): string {
  try {
    if (!lstatSync(path).isSymbolicLink()) return path;
    return existsSync(path) ? realpathSync(path) : resolve(dirname(path), readlinkSync(path));
  } catch {
    // Opening the file will say what is wrong.
    return path;
  }
}

/** Reads CLUSTER, NODE and CLUSTER_AUTH, which go together; null where none is set. */
export function readCluster(environment: Environment = process.env): ClusterConfig | null {
  const url = given(environment, "CLUSTER");
  const name = nodeName(environment);
  const auth = given(environment, "CLUSTER_AUTH");
  if (url === null) {
    if (name !== null) throw wrong("CLUSTER", "", "the address of the rqlite node beside, because NODE is set");
    if (auth !== null) throw wrong("CLUSTER", "", "the address of the rqlite node beside, because CLUSTER_AUTH is set");
    return null;
  }
  const origin = originIn(url);
  if (origin === null) {
    throw wrong("CLUSTER", url, "the address of the rqlite node beside, such as http://127.0.0.1:4001");
  }
  if (name === null) {
    const around = "bun run overwrites it: use bun src/main.ts and bun src/admin.ts";
    throw wrong("NODE", "", `a name for this server, such as n1 (${around})`);
  }
  if (!/^[\w.-]{1,64}$/.test(name))
    throw wrong("NODE", name, "up to 64 letters, digits, dots, hyphens and underscores");
  return { url: origin, name, credentials: auth === null ? null : readCredentials(auth) };
}

/** `bun run` sets NODE to the path of Node.js. A path is no name of a node. */
function nodeName(environment: Environment): string | null {
  const name = given(environment, "NODE");
  return name === environment["npm_node_execpath"] ? null : name;
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

/** The key that a client of some server uses; no setting of the server. */
export function readClientKey(environment: Environment = process.env): string | null {
  return environment["LEADFILE_KEY"]?.trim() || null;
}

/** The secret with which a client signs the leads that it posts; no setting of the server. */
export function readPostSecret(environment: Environment = process.env): string | null {
  return environment["LEADFILE_POST_SECRET"]?.trim() || null;
}

/** The environment for a program that is given leads, without the key and the secret. */
export function withoutSecrets(
  { LEADFILE_KEY, LEADFILE_POST_SECRET, ...rest }: Environment = process.env,
): Environment {
  return rest;
}

function readBaseUrl(environment: Environment): string | null {
  const value = given(environment, "BASE_URL");
  if (value === null) return null;
  const accepts = "an origin alone, such as https://www.example.com, with http or https and without a path";
  const origin = originIn(value);
  if (origin === null) throw wrong("BASE_URL", value, accepts);
  return origin;
}
