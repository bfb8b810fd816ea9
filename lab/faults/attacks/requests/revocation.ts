/** Revocations by another process while requests pour in: none is served after the command has returned. */
import { aLead } from "../../../../test/support/builders.ts";
import type { Attack, Fault, Figures } from "../../fault.ts";
import { type Key, makeAccount, makeKey, prepare } from "../../product/contents.ts";
import { admin, startServer } from "../../product/program.ts";

const clients = 8;

export const revocation: Fault = {
  name: "revocation under load",
  attack: "a key that 8 clients are using is revoked by the admin command; revocations",
  promise: "no request sent after the command returned is served",
  small: 6,
  full: 1000,
  breakages: [
    {
      name: "a server that does not look whether others have written",
      patches: [{ file: "src/api/auth.ts", from: "databaseVersion !== knownVersion || ", to: "" }],
    },
  ],
  run,
};

interface Sent {
  readonly atMs: number;
  readonly status: number;
}

async function run({ build, times, goesOn, progress, expect, file }: Attack): Promise<Figures> {
  const keys = prepare(file, (store) => {
    const account = makeAccount(store, "acme", [aLead(), aLead(), aLead()]);
    return Array.from({ length: times }, () => makeKey(store, account));
  });
  const server = await startServer(build, file);
  let requests = 0;
  for (const [turn, key] of keys.entries()) {
    if (!goesOn()) break;
    let using = true;
    const sent: Sent[] = [];
    const loads = Array.from({ length: clients }, async () => {
      while (using) sent.push(await ask(server.url, key));
    });
    const { status, stderr } = await admin(build, file, ["key", "revoke", key.id]);
    const returnedMs = performance.now();
    expect(status === 0, () => `revoking ended with ${status}: ${stderr}`);
    for (let more = 0; more < 5; more++) sent.push(await ask(server.url, key));
    using = false;
    await Promise.all(loads);
    requests += sent.length;
    const late = sent.filter(({ atMs, status }) => atMs > returnedMs && status !== 401);
    expect(late.length === 0, () => `revocation ${turn + 1}: ${late.length} requests were served after it`);
    expect(
      sent.some(({ status }) => status === 200),
      () => `revocation ${turn + 1}: the key was never served, so nothing was shown`,
    );
    progress(turn + 1);
  }
  await server.end();
  return { requests, clients };
}

async function ask(url: string, { secret }: Key): Promise<Sent> {
  const atMs = performance.now();
  const response = await fetch(`${url}/api/v1/leads`, { headers: { Authorization: `Bearer ${secret}` } });
  await response.arrayBuffer();
  return { atMs, status: response.status };
}
