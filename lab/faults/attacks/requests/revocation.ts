/** Revocations and imports by other processes while requests pour in: none is served after a revocation. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { aLead, linesOf, someLeads } from "../../../../test/support/builders.ts";
import { until } from "../../../../test/support/eventually.ts";
import type { Random } from "../../../random.ts";
import { type Attack, broken, type Fault, type Figures } from "../../fault.ts";
import { ask, startClients } from "../../product/client.ts";
import { prepareKeys } from "../../product/contents.ts";
import { admin, startServer } from "../../product/program.ts";

const clients = 8;
/** At least so many for each revocation, however fast the machine is. */
const requestsPerKey = 600;
const rowsPerImport = 50;

export const revocation: Fault = {
  name: "revocation under load",
  attack: `a key with which ${clients} clients poll, page, and ask for usage is revoked by a command next to an import; revocations`,
  promise: "no request sent after the command returned is served",
  small: 4,
  full: 1000,
  breakages: [
    broken(
      "a server that does not look whether others have written",
      "src/api/auth.ts",
      "databaseVersion !== knownVersion || ",
      "",
      { times: 1 },
    ),
  ],
  run,
};

async function run({ build, folder, times, turns, expect, file }: Attack): Promise<Figures> {
  const keys = prepareKeys(file, 2000, times);
  const server = await startServer(build, file, { LOG_LEVEL: "info" });
  const more = join(folder, "more.ndjson");
  let requests = 0;
  for (const { number, random } of turns()) {
    const { id, secret } = keys[number] ?? keys[0];
    writeFileSync(more, linesOf(someLeads(rowsPerImport)));
    const askOnce = async () => {
      const { atMs, status } = await ask(server.url, secret, aTarget(random));
      return { atMs, status };
    };
    const load = startClients(Array.from({ length: clients }, () => askOnce));
    const importing = admin(build, file, ["lead", "import", "acme", more, "--json"]);
    const revoked = await admin(build, file, ["key", "revoke", id]);
    const returnedMs = performance.now();
    const imported = await importing;
    // On a busy machine, all of them may have been sent before the command returned.
    await until(() => load.done.length >= requestsPerKey && (load.done.at(-1)?.atMs ?? 0) > returnedMs);
    const sent = await load.end();
    requests += sent.length;
    const said = (what: string) => () => `revocation ${number + 1}: ${what}`;
    for (const { status, stderr } of [revoked, imported]) expect(status === 0, said(`a command said: ${stderr}`));
    const after = sent.filter(({ atMs }) => atMs > returnedMs);
    expect(after.length > 0, said("no request was sent after it"));
    const late = after.filter(({ status }) => status !== 401);
    expect(late.length === 0, said(`${late.length} requests were served after it`));
    const failed = sent.filter(({ status }) => status !== 200 && status !== 401);
    expect(failed.length === 0, said(`${failed.length} requests got ${failed[0]?.status}`));
    const isShown = sent.some(({ status }) => status === 200);
    expect(isShown, said("the key was never served, so nothing was shown"));
  }
  const ended = await server.end();
  expect(ended === 0, () => `the server ended with ${ended}`);
  return { requests, clients };
}

function aTarget(random: Random): string {
  const newestMs = Date.parse(aLead().identified_at);
  return random.pick([
    `leads?since=${new Date(newestMs).toISOString()}`,
    "leads",
    `leads?limit=100&before=${new Date(newestMs - random.below(100_000)).toISOString()}`,
    "pixels",
    "usage",
    `leads?city=${random.below(1000)}`,
  ]);
}
