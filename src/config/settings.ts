/** All settings, which are environment variables, and how each kind is read. */
import { defaultLimitPerMin } from "../contract/limits.ts";
import { logLevels } from "../operator/log.ts";
import { UserError } from "../user-error.ts";

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

type SettingName = keyof typeof settings;
export type Environment = Readonly<Record<string, string | undefined>>;

/** The refusal of a setting: its name, what it was, and what it takes. */
export function wrong(name: SettingName, value: string, accepts: string): UserError {
  return new UserError(`${name} is ${JSON.stringify(value)}, but it takes ${accepts}.`, "", 2);
}

/** A variable that is set to nothing counts as unset, as in a compose file that passes it on. */
export function given(environment: Environment, name: SettingName): string | null {
  const value = environment[name]?.trim();
  return value === undefined || value === "" ? null : value;
}

/** What a variable is set to, or its fallback. */
export function text(environment: Environment, name: SettingName): string {
  return given(environment, name) ?? settings[name].fallback;
}

/** A whole number within bounds, both included. */
export function wholeNumber(environment: Environment, name: SettingName, least: number, most: number): number {
  const value = text(environment, name);
  const number = /^\d{1,10}$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= least && number <= most)) throw wrong(name, value, `a whole number from ${least} to ${most}`);
  return number;
}

/** One of some words. */
export function oneOf<Word extends string>(environment: Environment, name: SettingName, words: readonly Word[]): Word {
  const value = text(environment, name);
  const word = words.find((known) => known === value);
  if (word === undefined) throw wrong(name, value, words.join(" or ").replaceAll(/ or (?=.* or )/g, ", "));
  return word;
}

/** The origin that a text is, such as https://www.example.com; null where it is none, or has a path or a password. */
export function originIn(text: string): string | null {
  if (!/^https?:\/\/[^/?#@\s\\]+\/?$/i.test(text) || !URL.canParse(text)) return null;
  return new URL(text).origin;
}

/** A port; 0 stands for a free one. */
export function readPort(environment: Environment, name: SettingName): number {
  return wholeNumber(environment, name, 0, 65_535);
}

/** An address to listen on. */
export function readHost(environment: Environment, name: SettingName): string {
  const value = text(environment, name);
  if (!/^[\w.:-]+$/.test(value)) throw wrong(name, value, "an IP address or a host name, such as 127.0.0.1");
  return value;
}
