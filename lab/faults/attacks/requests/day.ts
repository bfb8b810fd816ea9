/** A day of polling and importing without the pauses: neither memory nor descriptors grow. */
import { join } from "node:path";
import { aLead, someLeads } from "../../../../test/builders.ts";
import { type Attack, createFindings, type Fault, type Outcome } from "../../fault.ts";
import { prepareKey } from "../../product/contents.ts";
import { descriptorsOf, memoryOf, missingProc } from "../../product/process-state.ts";
import { admin, startServer } from "../../product/program.ts";

const atOnce = 4;
/** A client that polls once a second asks so often between two imports of ten minutes. */
const requestsPerImport = 600;
const rowsPerImport = 50;
/** What the collector of garbage may leave lying about. */
const driftAllowed = 24 * 1024 * 1024;

export const day: Fault = {
  name: "a compressed day",
  attack: "clients poll, walk the pages and ask for usage, and every 600 requests a file is imported; requests",
  held: "memory in the last part is that of the middle, descriptors are those of the beginning",
  small: 4200,
  full: 86_400,
  breakages: [
    {
      name: "a descriptor left open by each request",
      patches: [
        {
          file: "src/http/ops/access-log.ts",
          from: "  return (context, { status, code, cause }) => {\n",
          to: '  return (context, { status, code, cause }) => {\nif (Math.random() < 0.05) require("node:fs").openSync("/dev/null");\n',
        },
      ],
    },
    {
      name: "something kept of each request",
      patches: [
        {
          file: "src/http/ops/access-log.ts",
          from: "  return (context, { status, code, cause }) => {\n",
          to: "  return (context, { status, code, cause }) => {\n(globalThis.kept ??= []).push(Buffer.alloc(32_768, 1));\n",
        },
      ],
    },
  ],
  missing: missingProc,
  run,
};

async function run({ build, folder, times, random, goesOn, progress }: Attack): Promise<Outcome> {
  const { broken, expect } = createFindings();
  const file = join(folder, "leadfile.db");
  const secret = prepareKey(file, 2000);
  const server = await startServer(build, file, { LOG_LEVEL: "info" });
  const memory: number[] = [];
  const descriptors: number[] = [];
  let asked = 0;
  let imports = 0;
  let newest = aLead().identified_at;

  async function ask(): Promise<void> {
    const target = random.pick([
      `leads?since=${newest}`,
      "leads",
      `leads?limit=100&before=${new Date(Date.parse(newest) - random.below(100_000)).toISOString()}`,
      "pixels",
      "usage",
      `leads?city=${random.below(1000)}`,
    ]);
    const response = await fetch(`${server.url}/api/v1/${target}`, { headers: { Authorization: `Bearer ${secret}` } });
    const text = await response.text();
    expect(response.status === 200, () => `${target} got ${response.status}: ${text.slice(0, 200)}`);
  }

  async function importMore(): Promise<void> {
    const path = join(folder, "more.ndjson");
    await Bun.write(
      path,
      `${someLeads(rowsPerImport)
        .map((lead) => JSON.stringify(lead))
        .join("\n")}\n`,
    );
    const { status, stderr } = await admin(build, file, ["lead", "import", "acme", path, "--json"]);
    expect(status === 0, () => `an import ended with ${status}: ${stderr}`);
    imports++;
    newest = aLead().identified_at;
  }

  while (asked < times && goesOn()) {
    const importing = importMore();
    const until = Math.min(times, asked + requestsPerImport);
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        while (asked < until) {
          asked++;
          await ask();
        }
      }),
    );
    await importing;
    memory.push(memoryOf(server.pid));
    descriptors.push(descriptorsOf(server.pid));
    progress(asked);
  }
  const grown = median(memory.slice(-third(memory))) - median(memory.slice(third(memory), 2 * third(memory)));
  expect(grown <= driftAllowed, () => `memory grew by ${Math.round(grown / 1e6)} MB in the last part of the day`);
  const more = Math.max(...descriptors) - (descriptors[0] ?? 0);
  expect(more <= 2 * atOnce, () => `${more} more descriptors were open than in the beginning`);
  const ended = await server.end();
  expect(ended === 0, () => `the server ended with ${ended}`);
  return {
    done: asked,
    broken,
    figures: {
      imports,
      "memory MB": Math.round(median(memory) / 1e6),
      "drift MB": Math.round(grown / 1e6),
      "descriptors +": more,
    },
  };
}

const third = (values: readonly number[]) => Math.max(1, Math.floor(values.length / 3));

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
