/** Between machines: nodes that speak TLS alone, show one another certificates, and want a password. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type LocalNode, placeNodes, startNode } from "../../../extensions/cluster/cluster/local-cluster.ts";
import { anAdmin } from "../../support/admin.ts";
import { aCertificate, openssl } from "../../support/certificate.ts";
import { aFolder } from "../../support/folder.ts";
import { client } from "../../support/harness.ts";
import { start } from "../../support/process.ts";
import { missing as missingNode, settingsOf, until, watched } from "./cluster.ts";
import { rqlited } from "./nodes.ts";

const missing = missingNode ?? (openssl === null ? "openssl is not installed" : null);
const secret = "leadfile:a-long-random-text";

describe.skipIf(missing !== null)(`a cluster of three nodes${missing === null ? "" : ` (${missing})`}`, () => {
  test("begins, serves and revokes over TLS, and tells nothing to whoever does not trust or know it", async () => {
    const { folder, flags, trust } = await guarded();
    const [first, ...others] = placeNodes(folder, ["n1", "n2", "n3"]).map((node) => ({
      ...node,
      url: node.url.replace("http:", "https:"),
    }));
    if (first === undefined) throw new Error("there are nodes");
    watched(startNode(rqlited, first, { flags }));
    await until(() => isReady(first));
    const settings = (node: LocalNode) => ({ ...settingsOf(node), ...trust });
    const appliance = anAdmin(["acme"]);
    const run = (...args: string[]) => command(settings(first), args);
    expect(await run("cluster", "init", appliance.file)).toMatchObject({ status: 0 });
    for (const node of others) {
      watched(startNode(rqlited, node, { others: [first], flags: [...flags, "-join-as", "leadfile"] }));
    }
    await Promise.all(others.map((node) => until(() => isReady(node))));
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

/** What nodes and Leadfile are started with, as deploy/ has it. */
async function guarded() {
  const { folder: certificates, TLS_CERT: cert, TLS_KEY: key } = aCertificate();
  const folder = aFolder();
  const auth = join(folder, "auth.json");
  const deployed = await Bun.file(join(import.meta.dir, "../../../deploy/cluster/auth.json")).text();
  await Bun.write(auth, deployed.replace("PUT A LONG RANDOM TEXT HERE", secret.slice("leadfile:".length)));
  await Bun.write(join(folder, "secret"), `${secret}\n`);
  const http = ["-http-cert", cert, "-http-key", key, "-http-ca-cert", cert];
  const node = ["-node-cert", cert, "-node-key", key, "-node-ca-cert", cert, "-node-verify-client"];
  const trust = { CLUSTER_AUTH: join(folder, "secret"), NODE_EXTRA_CA_CERTS: cert };
  return { folder, certificates, flags: ["-auth", auth, ...http, ...node], trust };
}

async function isReady({ url }: LocalNode): Promise<boolean> {
  const headers = { Authorization: `Basic ${Buffer.from(secret).toString("base64")}` };
  const request = { headers, tls: { rejectUnauthorized: false }, signal: AbortSignal.timeout(1_000) };
  return (await fetch(`${url}/readyz`, request).catch(() => null))?.status === 200;
}
