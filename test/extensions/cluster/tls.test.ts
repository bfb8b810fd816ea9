/** Between machines: nodes that speak TLS alone, show one another certificates, and want a password. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type LocalNode, placeNodes, startNode } from "../../../extensions/cluster/local-cluster.ts";
import { anAdmin } from "../../support/admin.ts";
import { openssl } from "../../support/certificate.ts";
import { aFolder } from "../../support/folder.ts";
import { client } from "../../support/harness.ts";
import { unless } from "../../support/needing.ts";
import { start } from "../../support/process.ts";
import { missing as missingNode, settingsOf, until, watched } from "./cluster.ts";
import { rqlited, secureFlags, someSecrets } from "./nodes.ts";

const missing = missingNode ?? (openssl === null ? "openssl is not installed" : null);
unless(missing).describe("a cluster of three nodes", () => {
  test("begins, serves and revokes over TLS, and tells nothing to whoever does not trust or know it", async () => {
    const secrets = someSecrets("127.0.0.1");
    const flags = secureFlags(secrets);
    const trust = { CLUSTER_AUTH: join(secrets, "admin.auth"), NODE_EXTRA_CA_CERTS: join(secrets, "ca.pem") };
    const [first, ...others] = placeNodes(aFolder(), ["n1", "n2", "n3"]).map((node) => ({
      ...node,
      url: node.url.replace("http:", "https:"),
    }));
    if (first === undefined) throw new Error("there are nodes");
    watched(startNode(rqlited, first, { flags }));
    const settings = (node: LocalNode) => ({ ...settingsOf(node), ...trust });
    const appliance = anAdmin(["acme"]);
    const run = (...args: string[]) => command(settings(first), args);
    expect(await run("cluster", "init", appliance.file)).toMatchObject({ status: 0 });
    for (const node of others) {
      watched(startNode(rqlited, node, { others: [first], flags: [...flags, "-join-as", "rqlite"] }));
    }
    await Promise.all(others.map((node) => until(() => isReady(node, trust.CLUSTER_AUTH))));
    const urls = await Promise.all([first, ...others].map((node) => start(settings(node)).listening()));
    const { key, id } = JSON.parse((await run("key", "create", "acme", "--json")).stdout) as {
      key: string;
      id: string;
    }; // As decided.
    const statuses = () =>
      Promise.all(
        urls.map(async (url) => (await client(url, { Authorization: `Bearer ${key}` }).get("/pixels")).status),
      );
    await until(async () => (await statuses()).every((status) => status === 200));
    expect((await run("key", "revoke", id)).status).toBe(0);
    expect(await statuses()).not.toContain(200);
    await until(async () => (await statuses()).every((status) => status === 401));
    const { CLUSTER_AUTH, ...distrustful } = settings(first);
    for (const stranger of [distrustful, { ...distrustful, CLUSTER_AUTH, NODE_EXTRA_CA_CERTS: "" }]) {
      expect((await command(stranger, ["cluster", "status"])).stderr).toContain(
        "The rqlite node at CLUSTER does not answer",
      );
    }
  });
});

/** In a process of its own: which certificates it trusts, a program reads as it begins. */
async function command(settings: Readonly<Record<string, string>>, args: readonly string[]) {
  const child = anAdmin([], settings).start(...args);
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { stdout, stderr, status: await child.exited };
}

async function isReady({ url }: LocalNode, auth: string): Promise<boolean> {
  const login = readFileSync(auth, "utf8").trim();
  const headers = { Authorization: `Basic ${Buffer.from(login).toString("base64")}` };
  const request = { headers, tls: { rejectUnauthorized: false }, signal: AbortSignal.timeout(1_000) };
  return (await fetch(`${url}/readyz`, request).catch(() => null))?.status === 200;
}
