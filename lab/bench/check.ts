/** Compares the answers of all servers: the same leads in the same order, the same refusals, the same headers. */
import { isDeepStrictEqual } from "node:util";
import type { BenchData } from "./data.ts";
import { leadAt, pixelIds, yearMs, yearStartMs } from "./leads.ts";
import { type Contestant, leadfile } from "./servers/contestants.ts";
import { ask, start } from "./servers/server.ts";

interface Answer {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: unknown;
}

type Presented = "live" | "revoked" | "none";

/** Throws an Error that names the first question to which a server answers otherwise than Leadfile. */
export async function checkAnswers(data: BenchData, peers: readonly Contestant[]): Promise<number> {
  const questions = questionsFor(data.leads);
  const expected = await answersOf(leadfile(data.leadfile, "warn"), data, questions);
  for (const peer of peers) {
    const given = await answersOf(peer, data, questions);
    for (const [place, [target, presented]] of questions.entries()) {
      if (isDeepStrictEqual(given[place], expected[place])) continue;
      const [theirs, ours] = [given[place], expected[place]].map((answer) => JSON.stringify(answer)?.slice(0, 600));
      throw new Error(`${peer.title} answers ${target} (key: ${presented}) with ${theirs}; Leadfile with ${ours}`);
    }
  }
  return questions.length;
}

/** The requests: every filter alone and with others, bounds, the ends of the data, and wrong requests. */
function questionsFor(leads: number): [target: string, presented: Presented][] {
  const middle = leadAt(Math.floor(leads / 2), leads).identified_at;
  const slice = `since=${new Date(yearStartMs + 0.3 * yearMs).toISOString()}&before=${middle}`;
  const good = [
    "",
    "limit=1",
    "limit=100",
    `before=${middle}`,
    `before=${middle.replace("Z", "4Z")}`,
    `since=${middle}`,
    slice,
    `limit=7&${slice}`,
    `before=${leadAt(3, leads).identified_at}`,
    `before=${new Date(yearStartMs).toISOString()}`,
    ...pixelIds.map((id) => `pixel_id=${id}&limit=5`),
    "state=CA",
    "state=ca&has_email=true",
    "state=ZZ",
    "city=San%20Diego",
    "city=SAN+DIEGO&has_email=true&limit=50",
    "city=Nowhere",
    "state=CA&city=Miami",
    "state=CA&city=needles",
    "city=Portland&state=ME",
    "has_email=true",
    "has_email=false",
    `pixel_id=px_shop&state=CA&city=Los%20Angeles&has_email=true&${slice}`,
  ];
  const refused = [
    "limit=0",
    "limit=101",
    "limit=1e1",
    "limit=",
    "before=yesterday",
    "since=2025-02-30T00:00:00Z",
  ].concat([
    "state=California",
    "has_email=1",
    "city=",
    "pixel_id=px_of_nobody",
    "offset=25",
    "limit=5&limit=5",
    "before=",
  ]);
  const questions = [...good, ...refused].map((search): [string, Presented] => [`/api/v1/leads?${search}`, "live"]);
  return [...questions, ["/api/v1/leads", "none"], ["/api/v1/leads", "revoked"]];
}

async function answersOf(
  contestant: Contestant,
  data: BenchData,
  questions: readonly (readonly [string, Presented])[],
): Promise<Answer[]> {
  const server = await start(contestant, data.key);
  try {
    const answers: Answer[] = [];
    for (const [target, presented] of questions) {
      const key = { live: data.key, revoked: data.revokedKey, none: null }[presented];
      answers.push(await toAnswer(await ask(server.url, target, key)));
    }
    return answers;
  } finally {
    await server.stop();
  }
}

async function toAnswer(response: Response): Promise<Answer> {
  const body: unknown = await response.json();
  if (!response.ok) return { status: response.status, headers: [], body: codeOf(body) };
  // Their values differ by nature: what was counted, and when.
  const headers = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "x-request-id", "cache-control"];
  return { status: response.status, headers: headers.filter((name) => response.headers.has(name)), body };
}

/** Messages are each server's own; the code is not. */
function codeOf(body: unknown): unknown {
  const error: unknown = typeof body === "object" && body !== null && "error" in body ? body.error : null;
  return typeof error === "object" && error !== null && "code" in error ? error.code : null;
}
