/** Backups in an object store: encrypted, complete or not listed, and restored on a machine that has nothing. */
import { afterAll, expect, onTestFinished, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { generateIdentity, identityToRecipient } from "age-encryption";
import { erase, header, printed, rows } from "../../backup/restore/a-backup.ts";
import { type Admin, anAdmin } from "../../support/admin.ts";
import { copyLead } from "../../support/database.ts";
import { until } from "../../support/eventually.ts";
import { needing } from "../../support/needing.ts";
import { gateway, serveFolder } from "../../support/object-store.ts";
import { aSharedFolder } from "../../support/run.ts";
import { aSmallDisk, fill } from "../../support/small-disk.ts";

/** A network between a machine and a server, which is lost after some bytes were sent, and stays lost. */
async function aNetworkTo(url: string) {
  let leftBytes = Number.POSITIVE_INFINITY;
  const { hostname, port } = new URL(url);
  const between = createServer((client) => {
    const server = connect(Number(port), hostname);
    const cut = () => {
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) socket.on("error", cut).on("close", cut);
    client.on("data", (bytes) => {
      leftBytes -= bytes.length;
      if (leftBytes < 0) cut();
      else server.write(bytes);
    });
    server.pipe(client);
  });
  await new Promise<void>((resolve) => between.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void between.close());
  const cutAfter = (bytes: number) => {
    leftBytes = bytes;
  };
  const address = between.address();
  return { url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`, cutAfter };
}

test("a backup that is deleted while its place is listed is left out of the list", async () => {
  const listed = ["leadfile-20260131T031500Z.db", "leadfile-20260131T031500Z.db.manifest.json"];
  const keys = listed.map((name) => `<Contents><Key>one/${name}</Key><Size>9</Size></Contents>`).join("");
  using store = Bun.serve({
    port: 0,
    fetch: ({ url }) =>
      new URL(url).searchParams.has("list-type")
        ? new Response(`<ListBucketResult><IsTruncated>false</IsTruncated>${keys}</ListBucketResult>`)
        : new Response("<Error><Code>NoSuchKey</Code></Error>", { status: 404 }),
  });
  const environment = { AWS_ENDPOINT_URL: store.url.href, AWS_ACCESS_KEY_ID: "key", AWS_SECRET_ACCESS_KEY: "secret" };
  const { stdout, stderr } = await anAdmin([], environment).run("backup", "list", "s3://leads/one", "--json");
  expect([stdout.trim(), stderr]).toEqual(["[]", ""]);
});

/** Starts an object store for the tests of this file, if its server is here; and makes machines that back up to it. */
async function anObjectStore() {
  const folder = gateway === null ? "" : aSharedFolder();
  for (const bucket of ["leads", "small"]) if (gateway !== null) mkdirSync(join(folder, bucket));
  const store = gateway === null ? { environment: {}, child: null } : await serveFolder(folder);
  afterAll(() => store.child?.kill());
  const identity = await generateIdentity();
  const settings = { ...store.environment, BACKUP_RECIPIENT: await identityToRecipient(identity) };
  const aMachine = (accounts: readonly string[], over: Record<string, string> = {}) => {
    const machine = anAdmin(accounts, { ...settings, ...over });
    return Object.assign(machine, { identity: machine.put("identity.txt", `# made by age-keygen\n${identity}\n`) });
  };
  return { folder, settings, aMachine };
}

const { folder, settings, aMachine } = await anObjectStore();

const list = (machine: Admin, place: string): Promise<{ file: string; leads: number }[]> =>
  printed(machine, "backup", "list", place);

const inStore = needing("versitygw");

inStore.describe("an object store", () => {
  test("restores a backup on a machine that has only the identity", async () => {
    const admin = aMachine(["acme"]);
    await admin.import(header + rows(0, 20));
    const { file, bytes, sha256 } = (await admin.run("backup", "s3://leads/one", "--json")).json;
    expect(file).toMatch(/^s3:\/\/leads\/one\/leadfile-\d{8}T\d{6}Z\.db\.age$/);
    expect(sha256).toEqual(expect.any(String));
    const made_at = expect.any(String);
    expect<unknown>(await list(admin, "s3://leads/one")).toEqual([
      { file, made_at, bytes, leads: 20, encrypted: true },
    ]);
    const other = aMachine([]);
    const { status, json } = await other.run("restore", "s3://leads/one", "--identity", other.identity, "--json");
    expect({ status, leads: json["leads"] }).toEqual({ status: 0, leads: 20 });
    expect(await other.leads()).toEqual(await admin.leads());
    expect(readdirSync(other.folder).filter((name) => name.includes("draft"))).toEqual([]);
  });

  test("restores the newest backup of a prefix, not one dated in the future, and repeats its erasures for an older one", async () => {
    const admin = aMachine(["acme"]);
    await admin.import(header + rows(0, 20));
    const backUpAt = async (hours: number) => {
      const then = anAdmin([], { ...settings, DATABASE_PATH: admin.file }, Date.now() + hours * 3_600_000);
      return (await then.run("backup", "s3://leads/two", "--json")).json["file"];
    };
    const older = String(await backUpAt(-1));
    await backUpAt(1);
    await erase(admin, "d7@example.com");
    await admin.import(header + rows(20, 22));
    await backUpAt(0);
    for (const [from, expected] of [
      ["s3://leads/two", { leads: 21, erased_again: 0 }],
      [older, { leads: 19, erased_again: 1 }],
    ] as const) {
      const other = aMachine([]);
      const { json } = await other.run("restore", from, "--identity", other.identity, "--json");
      expect(json).toMatchObject(expected);
    }
  });
});

inStore.describe("a backup in an object store", () => {
  test("rejects a missing recipient, wrong keys, a missing bucket, and a missing network", async () => {
    const refused: [Record<string, string>, string, RegExp][] = [
      [{ BACKUP_RECIPIENT: "" }, "s3://leads/three", /^BACKUP_RECIPIENT [^\n]+must be encrypted/],
      [{ AWS_SECRET_ACCESS_KEY: "another" }, "s3://leads/three", /AWS_SECRET_ACCESS_KEY/],
      [{ AWS_ACCESS_KEY_ID: "nobody" }, "s3://leads/three", /AWS_ACCESS_KEY_ID/],
      [{}, "s3://nothing/three", /Create the bucket/],
      [{}, "s3://Un_named/three", /Correct the name of the bucket/],
      [{}, "s3:///three", /Name a bucket/],
      [{ AWS_ENDPOINT_URL: "http://127.0.0.1:1" }, "s3://leads/three", /AWS_ENDPOINT_URL/],
    ];
    const expected = aMachine([]);
    for (const [over, place, says] of refused) {
      const admin = aMachine(["acme"], over);
      const { status, stderr } = await admin.run("backup", place);
      expect([status, stderr]).toEqual(["BACKUP_RECIPIENT" in over ? 2 : 1, expect.stringMatching(says)]);
      expect(stderr.trimEnd()).not.toContain("\n");
      expect(readdirSync(admin.folder).filter((name) => name.includes("draft"))).toEqual([]);
    }
    expect(await list(expected, "s3://leads/three")).toEqual([]);
  });

  test("asks for the identity and rejects a different one", async () => {
    const admin = aMachine(["acme"]);
    await admin.run("backup", "s3://leads/four");
    const other = aMachine([]);
    expect((await other.run("restore", "s3://leads/four")).stderr).toContain("--identity FILE");
    writeFileSync(other.identity, await generateIdentity());
    const { status, stderr } = await other.run("restore", "s3://leads/four", "--identity", other.identity);
    expect([status, stderr]).toEqual([1, expect.stringContaining("cannot be decrypted")]);
    expect(existsSync(other.file)).toBe(false);
  });
});

inStore.describe("an object store during an upload", () => {
  test("lists nothing of an upload that is killed or loses its connection, and the next backup is complete", async () => {
    const admin = aMachine(["acme"]);
    await admin.import(header + rows(0, 1));
    copyLead(admin, 5_999);
    const place = "s3://leads/five";
    for (const ms of [0, 20, 80]) {
      const { child, end } = admin.start("backup", place);
      const isEncrypted = () =>
        readdirSync(admin.folder, { recursive: true }).some((name) => /\.age$/.test(String(name)));
      await until(() => isEncrypted() || child.exitCode !== null, 1);
      await Bun.sleep(ms);
      await end("SIGKILL");
      for (const { leads } of await list(admin, place)) expect(leads).toBe(6_000);
    }
    const network = await aNetworkTo(new Map(Object.entries(settings)).get("AWS_ENDPOINT_URL") ?? "");
    const cut = aMachine([], { DATABASE_PATH: admin.file, AWS_ENDPOINT_URL: network.url });
    const before = await list(admin, place);
    for (const bytes of [0, 100_000, 1_000_000]) {
      network.cutAfter(bytes);
      const { status, stderr } = await cut.run("backup", place);
      expect([status, stderr]).toEqual([1, expect.stringMatching(/^s3:[^\n]+ cannot be [^\n]+the network[^\n]+\n$/)]);
      expect(await list(admin, place)).toEqual(before);
      expect(readdirSync(cut.folder).filter((name) => name.includes("draft"))).toEqual([]);
    }
    network.cutAfter(Number.POSITIVE_INFINITY);
    expect((await cut.run("backup", place)).status).toBe(0);
    const other = aMachine([]);
    const restored = await other.run("restore", place, "--identity", other.identity, "--json");
    expect(restored.json["leads"]).toBe(6_000);
  });

  needing("mount")("lists nothing of an upload to a full bucket", async () => {
    const admin = aMachine(["acme"]);
    await admin.import(header + rows(0, 1));
    copyLead(admin, 1_999);
    using disk = aSmallDisk(join(folder, "small"), "size=400k");
    const place = `s3://small/${disk.path.split("/").at(-1)}/six`;
    fill(disk.path);
    const { status, stderr } = await admin.run("backup", place);
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/^s3:[^\n]+ cannot be written [^\n]+space in the bucket\.\n$/),
    ]);
    expect(await list(admin, place)).toEqual([]);
  });
});
