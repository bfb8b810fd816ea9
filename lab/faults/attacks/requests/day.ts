/** A day of polling and importing without the pauses: neither memory nor descriptors grow. */
import { join } from "node:path";
import { aLead, someLeads } from "../../../../test/support/builders.ts";
import type { Attack, Fault, Figures } from "../../fault.ts";
import { prepareKey } from "../../product/contents.ts";
import { descriptorsOf, memoryOf, missingProc } from "../../product/process-state.ts";
import { admin, startServer } from "../../product/program.ts";

const atOnce = 4;
/** A client that polls once a second asks so often between two imports of ten minutes. */
const requestsPerImport = 600;
const rowsPerImport = 50;
/** The growth allowed for garbage. */
const driftAllowed = 24 * 1024 * 1024;

export const day: Fault = {
  name: "a compressed day",
  attack: "clients poll, walk the pages and ask for usage, and every 600 requests a file is imported; requests",
  promise: "memory in the last part is that of the middle, descriptors are those of the beginning",
  small: 4200,
  full: 86_400,
  breakages: [
    {
      name: "a descriptor left open by each request",
      patches: [
        {
          file: "src/api/reply.ts",
          from: "  return (call, { status, code, cause }) => {\n",
          to: '  return (call, { status, code, cause }) => {\nif (Math.random() < 0.05) require("node:fs").openSync("/dev/null");\n',
        },
      ],
    },
    {
      name: "something kept of each request",
      patches: [
        {
          file: "src/api/reply.ts",
          from: "  return (call, { status, code, cause }) => {\n",
          to: "  return (call, { status, code, cause }) => {\n(globalThis.kept ??= []).push(Buffer.alloc(32_768, 1));\n",
        },
      ],
    },
  ],
  missing: missingProc,
  run,
};

async function run({ build, folder, times, random, goesOn, progress, expect, file }: Attack): Promise<Figures> {
  const secret = prepareKey(file, 2000);
  const server = await startServer(build, file, { LOG_LEVEL: "info" });
  const { ask, importMore } = createVisitors({ build, folder, file, secret, url: server.url, random, expect });
  const memory: number[] = [];
  const descriptors: number[] = [];
  let asked = 0;
  const askUntil = async (until: number) => {
    while (asked < until) {
      asked++;
      await ask();
    }
  };

  while (asked < times && goesOn()) {
    const importing = importMore();
    const until = Math.min(times, asked + requestsPerImport);
    await Promise.all(Array.from({ length: atOnce }, () => askUntil(until)));
    await importing;
    memory.push(memoryOf(server.pid));
    descriptors.push(descriptorsOf(server.pid));
    progress(asked);
  }
  const figures = { imports: memory.length, ...compare(memory, descriptors, expect) };
  const ended = await server.end();
  expect(ended === 0, () => `the server ended with ${ended}`);
  return figures;
}

interface Surroundings extends Pick<Attack, "build" | "folder" | "random"> {
  readonly file: string;
  readonly secret: string;
  readonly url: string;
  readonly expect: Attack["expect"];
}

/** Polling clients and an importer. */
function createVisitors({ build, folder, file, secret, url, random, expect }: Surroundings) {
  const path = join(folder, "more.ndjson");
  let newest = aLead().identified_at;
  return {
    async ask(): Promise<void> {
      const target = random.pick([
        `leads?since=${newest}`,
        "leads",
        `leads?limit=100&before=${new Date(Date.parse(newest) - random.below(100_000)).toISOString()}`,
        "pixels",
        "usage",
        `leads?city=${random.below(1000)}`,
      ]);
      const response = await fetch(`${url}/api/v1/${target}`, { headers: { Authorization: `Bearer ${secret}` } });
      const text = await response.text();
      expect(response.status === 200, () => `${target} got ${response.status}: ${text.slice(0, 200)}`);
    },
    async importMore(): Promise<void> {
      await Bun.write(
        path,
        someLeads(rowsPerImport)
          .map((lead) => `${JSON.stringify(lead)}\n`)
          .join(""),
      );
      const { status, stderr } = await admin(build, file, ["lead", "import", "acme", path, "--json"]);
      expect(status === 0, () => `an import ended with ${status}: ${stderr}`);
      newest = aLead().identified_at;
    },
  };
}

/** The last third of the day beside the middle one, and the most descriptors beside those of the beginning. */
function compare(memory: readonly number[], descriptors: readonly number[], expect: Attack["expect"]) {
  const third = Math.max(1, Math.floor(memory.length / 3));
  const grown = median(memory.slice(-third)) - median(memory.slice(third, 2 * third));
  expect(grown <= driftAllowed, () => `memory grew by ${Math.round(grown / 1e6)} MB in the last part of the day`);
  const more = Math.max(...descriptors) - (descriptors[0] ?? 0);
  expect(more <= 2 * atOnce, () => `${more} more descriptors were open than in the beginning`);
  return {
    "memory MB": Math.round(median(memory) / 1e6),
    "drift MB": Math.round(grown / 1e6),
    "descriptors +": more,
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
