/** The machine of a simulated year: a disk, an object store, the server, the webhook endpoint, and an administrator. */
import * as fs from "node:fs";
import { join } from "node:path";
import { generateIdentity, identityToRecipient } from "age-encryption";
import { version } from "../../../../package.json";
import { type CommandProcess, startCommands } from "../../../../test/support/command-process.ts";
import { aFreePort } from "../../../../test/support/free-port.ts";
import { serveFolder } from "../../../../test/support/object-store.ts";
import { fill, mountAt } from "../../../../test/support/small-disk.ts";
import { addMigration, breakBuild, project } from "../../breaking/build.ts";
import { childrenOf } from "../../product/process-state.ts";
import { type Server, startServer, surroundings } from "../../product/program.ts";
import type { Clock } from "./clock.ts";

export const account = "acme";
/** In this zone the hour of the nightly backup is skipped in spring. */
export const zone = "America/New_York";
export const backupAt = "02:30";
export const keptBackups = 14;
const place = "s3://leads/year";

type Environment = Readonly<Record<string, string>>;
type Service = "server" | "receive";

/** Prepares the disk, with a file of the first release and an inbox, and the store; starts nothing else. */
export async function openMachine(build: string, folder: string, clock: Clock): Promise<Machine> {
  const disk = join(folder, "disk");
  fs.mkdirSync(disk);
  fs.mkdirSync(join(folder, "store/leads/year"), { recursive: true });
  const mount = mountAt(disk, "size=400m");
  fs.mkdirSync(join(disk, "inbox", account), { recursive: true });
  const fixture = fs.readFileSync(join(project, "test/fixtures/0.1.0.db.gz"));
  fs.writeFileSync(join(disk, "leadfile.db"), Bun.gunzipSync(fixture), { mode: 0o600 });
  const store = await serveFolder(join(folder, "store"));
  const identity = await generateIdentity();
  fs.writeFileSync(join(folder, "identity.txt"), `${identity}\n`);
  const settings = {
    ...clock.environment,
    ...store.environment,
    TZ: zone,
    HOME: folder,
    LOG_LEVEL: "warn",
    PORT: String(await aFreePort()),
    RECEIVE_PORT: String(await aFreePort()),
    INBOX: join(disk, "inbox"),
    BACKUP_TO: place,
    BACKUP_AT: backupAt,
    BACKUP_KEEP: String(keptBackups),
    BACKUP_RECIPIENT: await identityToRecipient(identity),
  };
  return new Machine(build, folder, clock, settings, () => {
    store.child.kill();
    mount[Symbol.dispose]();
  });
}

export class Machine {
  readonly file: string;
  readonly #disk: string;
  readonly #running = new Map<Service, Server>();
  #commands: CommandProcess;

  constructor(
    public build: string,
    readonly folder: string,
    readonly clock: Clock,
    readonly settings: Environment,
    readonly release: () => void,
  ) {
    this.#disk = join(folder, "disk");
    this.file = join(this.#disk, "leadfile.db");
    this.#commands = startCommands(build, settings);
  }

  urlOf(service: Service): string {
    return `http://127.0.0.1:${this.settings[service === "server" ? "PORT" : "RECEIVE_PORT"]}`;
  }

  /** The end of what the services have said since they were started. */
  logged(): string {
    return [...this.#running.values()].map((server) => server.errors().slice(-1500)).join("");
  }

  /** Runs a command that must succeed, or end with a status up to some other, and returns what it says. */
  async admin(args: readonly string[], database = this.file, maxStatus = 0) {
    const environment = surroundings(database, this.settings);
    const said = await this.#commands.run({ args, folder: this.folder, environment, input: "", nowMs: null });
    if (said.status > maxStatus)
      throw new Error(`${args.join(" ")} ended with ${said.status}: ${said.stdout}${said.stderr}`);
    return said;
  }

  /** Starts the services that do not run. */
  async start(): Promise<void> {
    for (const service of ["server", "receive"] as const) {
      if (this.#running.has(service)) continue;
      const command = service === "server" ? (["main"] as const) : (["admin", "receive"] as const);
      this.#running.set(service, await startServer(this.build, this.file, this.settings, command));
    }
  }

  async end(service: Service, signal: "SIGTERM" | "SIGKILL"): Promise<number> {
    const server = this.#running.get(service);
    this.#running.delete(service);
    return (await server?.end(signal)) ?? 0;
  }

  /** Stops both in order; throws if one does not end so. */
  async stop(): Promise<void> {
    const ended = await Promise.all([this.end("server", "SIGTERM"), this.end("receive", "SIGTERM")]);
    if (ended.some((status) => status !== 0)) throw new Error(`the services ended with ${ended}`);
  }

  /** Kills a service, and starts it again; or kills the processes that it has started, which it starts again. */
  async kill(service: Service, what: "itself" | "its children"): Promise<void> {
    const running = this.#running.get(service);
    if (what === "itself") await this.end(service, "SIGKILL");
    else if (running !== undefined) for (const child of childrenOf(running.pid)) endNow(child);
    await this.start();
  }

  upload(name: string, text: string): void {
    const path = join(this.#disk, "inbox", account, name);
    fs.writeFileSync(`${path}.part`, text);
    this.#date(`${path}.part`);
    fs.renameSync(`${path}.part`, path);
  }

  /** Returns true if files or deliveries wait for their import. */
  isWaiting(): boolean {
    const folders = [`${this.file}.spool`, join(this.#disk, "inbox", account)].filter((folder) =>
      fs.existsSync(folder),
    );
    const pending = folders.flatMap((folder) => fs.readdirSync(folder, { recursive: true }).map(String));
    return pending.some((name) => /^(?:src_\w+\/)?[^/]+\.(?:part|ndjson|csv)$/.test(name));
  }

  /** The backups that are stored and complete, oldest first. */
  backups(): string[] {
    const manifest = ".manifest.json";
    const stored = fs.readdirSync(join(this.folder, "store/leads/year")).filter((name) => name.endsWith(manifest));
    return stored.map((name) => `${place}/${name.slice(0, -manifest.length)}`).toSorted();
  }

  /** Restores a backup over the file, or over another one. */
  async restore(backup: string, onto = this.file): Promise<void> {
    await this.admin(["restore", backup, "--identity", join(this.folder, "identity.txt"), "--yes"], onto);
    // The administrator deletes the replaced file.
    for (const name of fs.readdirSync(this.#disk)) if (name.includes(".replaced-")) fs.rmSync(join(this.#disk, name));
  }

  /** The copies that are kept of the file from before its upgrades. */
  copies(): string[] {
    return fs.readdirSync(this.#disk).filter((name) => name.includes(".before-"));
  }

  /** Gives a new file, which has the time of the kernel, that of the clock. */
  #date(path: string): void {
    fs.utimesSync(path, this.clock.now() / 1000, this.clock.now() / 1000);
  }

  /** Leaves no room on the disk; the function that is returned makes room again. */
  fillDisk(): () => void {
    fill(this.#disk);
    return () => fs.rmSync(join(this.#disk, "rest"));
  }

  /** Installs a build as documented: a command upgrades the file and keeps a copy, then the services start. */
  async upgrade(build: string, command = ["account", "list"]): Promise<void> {
    await this.stop();
    await this.#commands.end();
    this.build = build;
    this.#commands = startCommands(build, this.settings);
    await this.admin(["upgrade", "--check"]);
    const before = this.copies();
    await this.admin(command);
    const made = this.copies().filter((name) => !before.includes(name));
    if (made.length !== 1) throw new Error(`the upgrade kept ${made.length} copies: ${this.logged()}`);
    // Before the server starts, which would delete a copy with the time of the kernel as too old.
    for (const name of made) this.#date(join(this.#disk, name));
    await this.start();
  }

  /** Makes a build of the next version, with a migration that adds an index. */
  nextBuild(): string {
    const build = join(this.folder, "next");
    const bump = { file: "package.json", from: `"version": "${version}"`, to: '"version": "99.0.0"' };
    fs.renameSync(breakBuild([bump]), build);
    addMigration(build, "CREATE INDEX next_version ON imports (at);");
    return build;
  }

  async close(): Promise<void> {
    await Promise.all([this.end("server", "SIGKILL"), this.end("receive", "SIGKILL"), this.#commands.end()]);
    this.release();
  }
}

/** Kills a process, unless it has ended. */
function endNow(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It ended in the meantime.
  }
}
