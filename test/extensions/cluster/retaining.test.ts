/** Retention on a cluster that a signal ends: what it says, and that a command beside another node completes it. */
import { expect, test } from "bun:test";
import type { LocalNode } from "../../../extensions/cluster/local-cluster.ts";
import { aLead, someLeads } from "../../support/builders.ts";
import { unless } from "../../support/needing.ts";
import { aCluster, missing, storedBy, until } from "./cluster.ts";

const many = 8000;

/** What each node has to have heard of, or answers nobody. */
async function revisionOf({ url }: LocalNode): Promise<number> {
  const answer = await fetch(`${url}/db/query?level=none&q=SELECT%20sum(count)%20FROM%20cluster_revision`);
  const { results } = (await answer.json()) as { results: { values?: number[][] }[] }; // As rqlite answers.
  return results[0]?.values?.[0]?.[0] ?? 0;
}

unless(missing).describe("a cluster of three nodes", () => {
  test("ends a retention at Ctrl-C after some leads, which are gone everywhere once the next one is done", async () => {
    const young = aLead({ identified_at: new Date().toISOString() });
    const cluster = await aCluster([...someLeads(many), young]);
    const [one, two, three] = cluster.places;
    // The cluster was made under the clock of the tests, so the real one is far ahead, and the command would ask.
    const retain = ["retain", cluster.account.id, "--days", "7", "--yes"];
    const before = await revisionOf(two.node);
    const child = cluster.admin(one).start(...retain);
    await until(async () => (await storedBy(one.node)) <= many);
    child.kill("SIGINT");
    expect(await child.exited).toBe(130);
    const said = /^Stopped: ([\d,]+) of 8,000 older leads are gone, .*\n$/m.exec(await child.stderr.text());
    const gone = Number(said?.[1]?.replaceAll(",", ""));
    expect(await storedBy(two.node)).toBe(many + 1 - gone);
    // The new retention is announced, and then what it has removed.
    expect(await revisionOf(two.node)).toBe(before + 2);
    expect(gone).toBeLessThan(many);
    const completed = await cluster.admin(two).run(...retain, "--json");
    expect(completed.json as unknown).toEqual({ days: 7, erased: many - gone });
    expect(await Promise.all([one, two, three].map(({ node }) => storedBy(node)))).toEqual([1, 1, 1]);
  });
});
