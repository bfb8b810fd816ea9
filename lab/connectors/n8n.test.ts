/** The n8n workflow, run by n8n's engine with its nodes: every lead is handed on, over kills and refusals. */
import { expect, onTestFinished } from "bun:test";
import { dirname, join } from "node:path";
import type { Lead } from "../../src/contract/lead.ts";
import { aLine } from "../../test/packages/client/line.ts";
import { aFolder } from "../../test/support/folder.ts";
import { serve } from "../../test/support/harness.ts";
import { connectors, leadsOfWeeks, moreThan, start, toolOf, withTool } from "./connector.ts";

const engine = toolOf("n8n", "node_modules/n8n-core/package.json");
/** Each start of the tool takes long on a busy machine. */
const manyRuns = 600_000;

/** The receiver of leads; a lead that it rejects is not received. */
function aTarget() {
  const taken: Lead[] = [];
  let refused = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const lead = (await request.json()) as Lead; // The workflow posts leads.
      if (refused > 0 && refused-- === 1) return new Response("no", { status: 500 });
      taken.push(lead);
      return new Response(null, { status: 204 });
    },
  });
  onTestFinished(() => void server.stop(true));
  return {
    url: server.url.href,
    taken,
    refuse(nth: number) {
      refused = nth;
    },
  };
}

function aWorkflow(url: string, key: string, deliverTo: string) {
  const folder = aFolder();
  const settings = JSON.stringify({ baseUrl: url, since: "2026-01-01T00:00:00Z", deliverTo });
  const tool = dirname(dirname(dirname(engine ?? "")));
  const program = join(import.meta.dir, "run-n8n.mjs");
  const args = [program, tool, join(connectors, "n8n/leads.json"), join(folder, "static-data.json"), settings];
  const environment = { LEADFILE_KEY: key, N8N_USER_FOLDER: folder, N8N_ENFORCE_SETTINGS_FILE_PERMISSIONS: "true" };
  return { begin: () => start("node", { args, folder, settings: environment }) };
}

/** Leads in the order in which they first came. */
const once = (leads: readonly Lead[]) => [...new Map(leads.map((lead) => [lead.id, lead])).values()];

withTool(engine)(
  "n8n hands on every lead, oldest first, over kills and refusals, and a second run adds nothing",
  async () => {
    const leads = leadsOfWeeks(230);
    const server = await serve({ leads });
    const [line, target] = [await aLine(server), aTarget()];
    const { begin } = aWorkflow(line.url, server.aKey(), target.url);
    for (const most of [1, 120]) {
      const cut = begin();
      const had = target.taken.length;
      while (target.taken.length < had + most && cut.exitCode === null) await Bun.sleep(1);
      cut.kill("SIGKILL");
      await cut.exited;
    }
    target.refuse(50);
    const refused = begin();
    expect([await refused.exited, await refused.stderr.text()]).toEqual([1, expect.stringContaining("Deliver")]);
    // A page that the server refuses for a moment is read again.
    line.faults.push("none", "busy");
    expect(await begin().exited).toBe(0);
    expect(once(target.taken)).toEqual(leads);
    target.taken.length = 0;
    expect(await begin().exited).toBe(0);
    expect(target.taken).toEqual([]);
    const { late, fresh } = moreThan(leads, 1_000);
    server.importMore([late, fresh]);
    expect(await begin().exited).toBe(0);
    expect(target.taken).toEqual([late, fresh]);
  },
  manyRuns,
);
