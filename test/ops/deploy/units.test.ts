/** deploy/systemd: the units are read by systemd, and do what they say. */
import { beforeAll, describe, expect } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { theExecutable } from "../../support/executable.ts";
import { aFolder } from "../../support/folder.ts";
import { needing } from "../../support/needing.ts";
import { run } from "./run.ts";

const units = join(import.meta.dir, "../../../deploy/systemd");
const analyzed = needing("systemd-analyze");

beforeAll(() => void theExecutable());

describe("the units of systemd", () => {
  /** The units in a folder of their own, with the executable where it is in this test. */
  function installed(): string[] {
    const folder = aFolder();
    return readdirSync(units)
      .filter((name) => name.endsWith(".service"))
      .map((name) => {
        const text = readFileSync(join(units, name), "utf8");
        writeFileSync(join(folder, name), text.replaceAll("/usr/local/bin/leadfile", theExecutable()));
        return join(folder, name);
      });
  }

  analyzed("are understood by systemd, without a word of complaint", () => {
    const files = installed();
    expect(files).toHaveLength(3);
    expect(run("systemd-analyze", "verify", "--man=no", ...files)).toEqual({ status: 0, stdout: "", stderr: "" });
  });

  analyzed("expose less than 2.5", () => {
    const services = readdirSync(units).filter((name) => name.endsWith(".service"));
    expect(services).toHaveLength(3);
    for (const service of services) {
      const { stdout } = run("systemd-analyze", "security", "--offline=yes", "--no-pager", join(units, service));
      const level = Number(/exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1] ?? Number.NaN);
      expect(level).toBeLessThan(2.5);
    }
  });

  needing(
    "systemd-sysusers",
    "systemd-tmpfiles",
    "root",
  )("come with a user and with folders of its own", () => {
    const root = aFolder();
    for (const folder of ["etc", "var/lib", "var/backups"]) mkdirSync(join(root, folder), { recursive: true });
    run("systemd-sysusers", `--root=${root}`, join(units, "leadfile-sysusers.conf"));
    const [, uid] = /^leadfile:x:(\d+):/m.exec(readFileSync(join(root, "etc/passwd"), "utf8")) ?? [];
    expect(run("systemd-tmpfiles", `--root=${root}`, "--create", join(units, "leadfile-tmpfiles.conf")).status).toBe(0);
    for (const folder of ["var/lib/leadfile", "var/lib/leadfile/inbox", "var/backups/leadfile"]) {
      const { mode, uid: owner } = statSync(join(root, folder));
      expect([(mode & 0o777).toString(8), owner]).toEqual(["700", Number(uid)]);
    }
  });
});
