/** Whatever happens in whatever order, a follower gives each lead: once with orderly stops, and in batches always. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Lead } from "../../../src/contract/lead.ts";
import { aLead, noonMs } from "../../support/builders.ts";
import { connected } from "./connected.ts";
import { everyFault, type Fault } from "./line.ts";

const overlapMs = 60_000;

/** How a loop ends without having asked for the next lead. */
type How = "kill" | "break" | "throw";

type Event =
  | { readonly kind: "import"; readonly late: readonly number[] }
  | { readonly kind: "fault"; readonly faults: readonly Fault[] }
  | { readonly kind: "take"; readonly count: number }
  | { readonly kind: "stop" }
  | { readonly kind: "crash"; readonly how: How };

// A late answer takes its time for real; every other fault is as good a test of the same.
const swift = everyFault.filter((fault) => fault !== "late");

const anEvent: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("import" as const), late: fc.array(aDelay(), { maxLength: 8 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("fault" as const), faults: someFaults() }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("take" as const), count: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 2, arbitrary: fc.constant({ kind: "stop" as const }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("crash" as const), how: fc.constantFrom<How>("kill", "break", "throw") }),
  },
);

/** The distance of a lead behind the newest one; negative if it is newer. */
function aDelay(): fc.Arbitrary<number> {
  return fc.oneof(fc.integer({ min: -90_000, max: -1 }), fc.integer({ min: 1, max: overlapMs }));
}

function someFaults(): fc.Arbitrary<Fault[]> {
  return fc.array(fc.constantFrom(...swift), { minLength: 1, maxLength: 8 });
}

/** Imports leads, each late by so much behind the newest of them all so far; gives their ids. */
function importing(server: Awaited<ReturnType<typeof connected>>) {
  let newestMs = noonMs - 3_600_000;
  const taken = new Set<number>();
  return (delays: readonly number[]): string[] => {
    // A tie would be moved up by the server, and no longer be late by what was said.
    const moments = [...new Set(delays.map((delay) => newestMs - delay))].filter((ms) => !taken.has(ms));
    // The newest comes last: a lead in front of it was late by at most the overlap when it came.
    const leads = moments
      .toSorted((one, other) => one - other)
      .map((ms) => aLead({ identified_at: new Date(ms).toISOString() }));
    for (const ms of moments) taken.add(ms);
    newestMs = Math.max(newestMs, ...moments);
    for (const lead of leads) server.importMore([lead]);
    return leads.map(({ id }) => id);
  };
}

type Server = Awaited<ReturnType<typeof connected>>;

/** Runs events against a reader until it has received all imported leads. */
interface Reader {
  have(): number;
  take(count: number, wanted: number): Promise<void>;
  stop(): Promise<void>;
  crash(how: How): Promise<void>;
}

/** Plays the events, then reads to the end; gives the ids of all that was imported. */
async function play(server: Server, events: readonly Event[], reader: Reader): Promise<string[]> {
  const importMore = importing(server);
  const wanted: string[] = [];
  for (const event of events) {
    if (event.kind === "import") wanted.push(...importMore(event.late));
    else if (event.kind === "fault") server.line.faults.push(...event.faults);
    else if (event.kind === "take") await reader.take(event.count, wanted.length);
    else if (event.kind === "crash") await reader.crash(event.how);
    else await reader.stop();
  }
  while (reader.have() < wanted.length) await reader.take(1, wanted.length);
  await server.stop();
  return wanted;
}

/** Follows lead by lead. */
function aFollower({ leadfile }: Server) {
  let saved: string | undefined;
  const checkpoint = {
    load: () => saved,
    save(text: string) {
      saved = text;
    },
  };
  const begin = () => {
    const controller = new AbortController();
    const options = { every: "30s", overlap: overlapMs, checkpoint, signal: controller.signal } as const;
    return { controller, source: leadfile.leads.follow(options) };
  };
  let running = begin();
  const got: string[] = [];
  const seen = { crashes: 0 };
  return {
    got,
    seen,
    have: () => new Set(got).size,
    async take(count: number, wanted: number) {
      for (let n = 0; n < count && new Set(got).size < wanted; n++) {
        const { value } = await running.source.next();
        if (value !== undefined) got.push(value.id);
      }
    },
    async stop() {
      running.controller.abort();
      // The lead in hand is done: asking for the next one says so, and is the end.
      expect((await running.source.next()).done).toBe(true);
      running = begin();
    },
    async crash(how: How) {
      seen.crashes += 1;
      if (how === "break") await running.source.return();
      if (how === "throw") await running.source.throw(new Error("a mistake in the loop")).catch(() => undefined);
      running = begin();
    },
  };
}

/** Keeps batches together with their checkpoint, as a transaction does. */
function aKeeper({ leadfile }: Server) {
  const kept: { leads: readonly Lead[]; checkpoint: string | null } = { leads: [], checkpoint: null };
  const begin = () => leadfile.leads.batches({ overlap: overlapMs, checkpoint: kept.checkpoint });
  let source = begin();
  let wantedLast = 0;
  return {
    kept,
    have: () => kept.leads.length,
    async take(_: number, wanted: number) {
      wantedLast = wanted;
      if (kept.leads.length >= wanted) return;
      const { value } = await source.next();
      if (value === undefined) return;
      kept.leads = [...kept.leads, ...value.leads];
      kept.checkpoint = value.checkpoint;
    },
    async stop() {
      source = begin();
    },
    /** With a batch in hand that was not kept. */
    async crash() {
      if (kept.leads.length < wantedLast) await source.next();
      source = begin();
    },
  };
}

const someEvents = fc.array(anEvent, { maxLength: 25 });

test("follow yields every lead exactly once across orderly stops; a crash, a break, or a throw repeats at most one", async () => {
  await fc.assert(
    fc.asyncProperty(someEvents, async (events) => {
      const server = await connected({ limit: 60 }, { retries: 2 });
      const { got, seen, ...reader } = aFollower(server);
      const wanted = await play(server, events, reader);
      expect(new Set(got)).toEqual(new Set(wanted));
      expect(got.length - wanted.length).toBeLessThanOrEqual(seen.crashes);
    }),
    { numRuns: 40 },
  );
});

test("batches saved with their checkpoint yield every lead exactly once, even across crashes", async () => {
  await fc.assert(
    fc.asyncProperty(someEvents, async (events) => {
      const server = await connected({ limit: 60 }, { retries: 2 });
      const { kept, ...reader } = aKeeper(server);
      const wanted = await play(server, events, reader);
      expect(kept.leads.map(({ id }) => id).toSorted()).toEqual(wanted.toSorted());
    }),
    { numRuns: 40 },
  );
});
