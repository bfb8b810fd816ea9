/** The Airbyte manifest, run by airbyte-cdk: a destination that keeps records and state has the export, over kills. */
import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { detailFields, type Lead } from "../../src/contract/lead.ts";
import { aLine } from "../../test/packages/client/line.ts";
import { aFolder } from "../../test/support/folder.ts";
import { serve } from "../../test/support/harness.ts";
import { connectors, leadsOfWeeks, moreThan, start, toolOf, twoAccountsAtOneAddress, withTool } from "./connector.ts";

const program = toolOf("airbyte", "bin/source-declarative-manifest");
/** Each start of the tool takes long on a busy machine. */
const manyRuns = 600_000;

interface Message {
  readonly type: string;
  readonly record?: { readonly stream: string; readonly data: Lead };
  readonly state?: unknown;
  readonly log?: { readonly level: string; readonly message: string };
}

const parts = [
  ...["--manifest-path", join(connectors, "airbyte/manifest.yaml")],
  ...["--components-path", join(connectors, "airbyte/components.py")],
];

const catalog = {
  streams: [
    {
      stream: { name: "leads", json_schema: {}, supported_sync_modes: ["full_refresh", "incremental"] },
      sync_mode: "incremental",
      destination_sync_mode: "append_dedup",
      cursor_field: ["identified_at"],
      primary_key: [["id"]],
    },
  ],
};

/** airbyte-cdk leaves out what is null; in a table the column is there all the same. */
const nothing = Object.fromEntries(detailFields.map((field) => [field, null]));

/** A sync as Airbyte makes it: records are deduplicated by their key, a state counts once it came. */
function aSync(tool: string, url: string, key: string) {
  const folder = aFolder();
  const kept = new Map<string, Lead>();
  const warnings: string[] = [];
  let state: unknown[] = [];
  let records = 0;
  const put = (name: string, value: unknown) => writeFileSync(join(folder, name), JSON.stringify(value));
  const configure = (base_url: string, key: string) =>
    put("config.json", { base_url, key, start_date: "2026-01-01", window: "P3D" });
  configure(url, key);
  put("catalog.json", catalog);
  const files = ["config", "catalog", "state"].flatMap((name) => [`--${name}`, `${name}.json`]);
  function take(line: string): void {
    const { type, record, state: said, log } = JSON.parse(line) as Message; // Airbyte's protocol.
    if (type === "RECORD" && record !== undefined) {
      kept.set(record.data.id, { ...nothing, ...record.data });
      records += 1;
    }
    if (type === "STATE") state = [said];
    if (log?.level === "WARN") warnings.push(log.message);
  }
  return {
    configure,
    warnings,
    records: () => records,
    leads: () => [...kept.values()].toSorted((one, other) => one.identified_at.localeCompare(other.identified_at)),
    /** Reads to the end, or is killed after a number of messages. Returns the status. */
    async read(most = Number.POSITIVE_INFINITY): Promise<number> {
      put("state.json", state);
      const child = start(tool, {
        args: ["read", ...files, ...parts],
        folder,
        settings: { AIRBYTE_ENABLE_UNSAFE_CODE: "true" },
      });
      let messages = 0;
      for await (const line of linesOf(child.stdout)) {
        if (++messages > most) break;
        take(line);
      }
      if (messages > most) child.kill("SIGKILL");
      return child.exited;
    },
  };
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const bytes of stream) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

withTool(program)(
  "Airbyte reads every lead in windows of time, over kills and outages, and a second sync adds nothing",
  async () => {
    const leads = leadsOfWeeks(230);
    const server = await serve({ leads });
    const line = await aLine(server);
    const sync = aSync(program ?? "", line.url, server.aKey());
    for (const most of [20, 120]) await sync.read(most);
    line.faults.push("none", "busy", "drop", "html");
    expect(await sync.read()).toBe(0);
    expect(sync.leads()).toEqual(leads);
    const before = sync.records();
    expect(await sync.read()).toBe(0);
    expect(sync.leads()).toEqual(leads);
    // It looks back an hour, to the newest lead.
    expect(sync.records() - before).toBeLessThanOrEqual(1);
    const { late, fresh } = moreThan(leads);
    server.importMore([late, fresh]);
    expect(await sync.read()).toBe(0);
    expect(sync.leads()).toEqual([...leads.slice(0, -1), late, ...leads.slice(-1), fresh]);
  },
  manyRuns,
);

withTool(program)(
  "a state of another server, or of another account at the same address, does not keep older leads out",
  async () => {
    const { leads, older, first, second, address, switchTo } = await twoAccountsAtOneAddress();
    const { configure, read, leads: arrived, warnings } = aSync(program ?? "", address, first.aKey());
    expect(await read()).toBe(0);
    expect([arrived(), warnings]).toEqual([leads, []]);
    switchTo(second.url);
    configure(address, second.aKey());
    expect(await read()).toBe(0);
    const ids = new Set(arrived().map(({ id }) => id));
    expect(older.filter(({ id }) => !ids.has(id))).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining("this seems to be another account")]);
    // The same account at another address.
    configure(second.url, second.aKey());
    expect(await read()).toBe(0);
    expect(warnings[1]).toContain(`The state is that of ${address}, and this is ${second.url}.`);
    // A new key of the same account continues.
    configure(second.url, second.aKey());
    expect(await read()).toBe(0);
    expect(warnings).toHaveLength(2);
  },
  manyRuns,
);
