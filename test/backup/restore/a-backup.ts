/** A file with a backup of itself, for tests of bun admin backup and restore. */
import { expect } from "bun:test";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Admin, anAdmin } from "../../support/admin.ts";

export const header = "date,pixel_id,email,phone\n";
/** Rows of numbered people, one after another. */
export const rows = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => `2026-01-31,px,d${from + n}@example.com,155501${1000 + from + n}\n`).join(
    "",
  );

/** Makes a backup at a path, from the folder of an admin on, and returns the path. */
export async function backUp(admin: Admin, path = "copy.db"): Promise<string> {
  const file = resolve(admin.folder, path);
  expect((await admin.run("backup", file)).status).toBe(0);
  return file;
}

/** A file with a backup of itself. */
export async function aBackup(count = 20) {
  const admin = anAdmin();
  await admin.import(header + rows(0, count));
  return { admin, file: await backUp(admin) };
}

/** An admin with an empty folder for backups. */
export function withPlace(accounts?: readonly string[]): { admin: Admin; place: string } {
  const admin = anAdmin(accounts);
  const place = join(admin.folder, "backups");
  mkdirSync(place);
  return { admin, place };
}

/** The same database at another time. */
export const at = (nowMs: number, { file }: Pick<Admin, "file">) => anAdmin([], { DATABASE_PATH: file }, nowMs);

/** What a command prints as JSON, such as a list. */
export const printed = async (admin: Admin, ...words: readonly string[]) =>
  JSON.parse((await admin.run(...words, "--json")).stdout);

/** Returns the state of a key, as `key check` says it. */
export const keyState = async (admin: Admin, key: string) =>
  (await admin.give(key, "key", "check", "--json")).json["state"];

/** Erases a person, and returns the receipt. */
export const erase = async (admin: Admin, email: string, account = "acme") =>
  (await admin.run("lead", "erase", account, "--email", email)).stdout;

/** Writes a manifest that fits a file that is none of ours. */
export function fitManifest(file: string, over: object = {}): void {
  const path = `${file}.manifest.json`;
  const manifest = JSON.parse(readFileSync(path, "utf8"));
  const sha256 = createHash("sha256").update(readFileSync(file)).digest("hex");
  writeFileSync(path, JSON.stringify({ ...manifest, sha256, bytes: statSync(file).size, ...over }));
}

/** The replaced files that restores have kept, without the log of a damaged one. */
export const kept = ({ folder }: Admin) =>
  readdirSync(folder).filter((name) => name.includes(".replaced-") && !name.endsWith("-wal"));

/** Changes one bit of a file. */
export function flip(file: string, at: number): void {
  const bytes = readFileSync(file);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(file, bytes);
}
