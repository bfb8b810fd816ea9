/** The dlt source, run by dlt into DuckDB: the destination is the export, over kills and late leads. */
import { expect } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Lead } from "../../src/contract/lead.ts";
import { answering } from "../../test/support/answering.ts";
import { aLead } from "../../test/support/builders.ts";
import { until } from "../../test/support/eventually.ts";
import { aFolder } from "../../test/support/folder.ts";
import { serve } from "../../test/support/harness.ts";
import {
  connectors,
  finish,
  leadsOfWeeks,
  moreThan,
  start,
  toolOf,
  twoAccountsAtOneAddress,
  withTool,
} from "./connector.ts";

const python = toolOf("dlt", "bin/python");
/** Each start of the tool takes long on a busy machine. */
const fourRuns = 600_000;

/** Prints the leads of the destination as they are served, oldest first. */
const dump = `
import datetime, duckdb, json, sys
fields = sys.argv[1].split(",")
rows = duckdb.connect("leadfile.duckdb").execute(f"select {','.join(fields)} from visitors.leads order by identified_at").fetchall()
for row in rows:
    lead = dict(zip(fields, row))
    moment = lead["identified_at"].astimezone(datetime.timezone.utc)
    lead["identified_at"] = moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    print(json.dumps(lead))
`;

function aPipeline(tool: string, url: string, key: string, folder = aFolder()) {
  const settings = {
    SOURCES__LEADFILE__BASE_URL: url,
    SOURCES__LEADFILE__KEY: key,
    RUNTIME__DLTHUB_TELEMETRY: "false",
    // For root, dlt keeps its pipelines in one place for all, and an interrupted one would continue there.
    DLT_DATA_DIR: join(folder, "dlt"),
  };
  const begin = () => start(tool, { args: [join(connectors, "dlt/leadfile.py")], folder, settings });
  return {
    folder,
    begin,
    run: () => finish(begin()),
    async leads(): Promise<Lead[]> {
      const fields = Object.keys(aLead()).join(",");
      const lines = await finish(start(tool, { args: ["-c", dump, fields], folder }));
      return lines
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Lead); // The columns of the destination are those of a lead.
    },
  };
}

withTool(python)(
  "dlt brings every lead to DuckDB, over kills, and a second run adds nothing",
  async () => {
    const leads = leadsOfWeeks(230);
    const { url, aKey, importMore } = await serve({ leads });
    let asked = 0;
    const counting = answering((request) => {
      asked++;
      return fetch(request.url.replace(/^http:\/\/[^/]+/, url), { headers: request.headers });
    });
    const { begin, run, folder, leads: arrived } = aPipeline(python ?? "", counting, aKey());
    const isLoading = () => existsSync(join(folder, "leadfile.duckdb"));
    for (const isThere of [() => asked > 0, () => asked > 1, () => asked > 2, isLoading]) {
      asked = 0;
      const cut = begin();
      await until(() => isThere() || cut.exitCode !== null);
      cut.kill("SIGKILL");
      await cut.exited;
    }
    await run();
    expect(await arrived()).toEqual(leads);
    await run();
    expect(await arrived()).toEqual(leads);
    const { late, fresh } = moreThan(leads, 1_000);
    importMore([late, fresh]);
    await run();
    expect(await arrived()).toEqual([...leads.slice(0, -1), late, ...leads.slice(-1), fresh]);
  },
  fourRuns,
);

withTool(python)(
  "a state of another server, or of another account at the same address, does not keep older leads out",
  async () => {
    const { leads, older, first, second, address, switchTo } = await twoAccountsAtOneAddress();
    const { run, folder, leads: arrived } = aPipeline(python ?? "", address, first.aKey());
    await run();
    expect(await arrived()).toEqual(leads);
    switchTo(second.url);
    const another = aPipeline(python ?? "", address, second.aKey(), folder);
    const child = another.begin();
    const said = await child.stderr.text();
    expect([await child.exited, said]).toEqual([0, expect.stringContaining("this seems to be another account")]);
    const ids = new Set((await another.leads()).map(({ id }) => id));
    expect(older.filter(({ id }) => !ids.has(id))).toEqual([]);
    // The same account at another address.
    const moved = aPipeline(python ?? "", second.url, second.aKey(), folder).begin();
    expect(await moved.stderr.text()).toContain(`The state is that of ${address}, and this is ${second.url}.`);
  },
  fourRuns,
);
