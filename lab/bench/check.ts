/** Compares the answers of both servers: the same bytes of a page, the same refusals, the same headers. */
import { demoPixels } from "../../src/cli/demo/leads.ts";
import type { BenchData } from "./data.ts";
import { leadAt, yearMs, yearStartMs } from "./leads.ts";
import { ask, type Contestant, hono, leadfile, serving } from "./servers.ts";

type Question = readonly [target: string, key: string | null];

/** Throws an Error that names the first question to which the other server answers otherwise than Leadfile. */
export async function checkAnswers(data: BenchData): Promise<number> {
  const questions = questionsFor(data);
  const expected = await answersOf(leadfile(data.leadfile), questions);
  const given = await answersOf(hono(data.relational), questions);
  for (const [place, [target]] of questions.entries()) {
    if (given[place] === expected[place]) continue;
    const [theirs, ours] = [given[place], expected[place]].map((answer) => answer?.slice(0, 600));
    throw new Error(`Hono answers ${target} with ${theirs}; Leadfile with ${ours}`);
  }
  return questions.length;
}

/** The requests: every filter alone and with others, bounds, the ends of the data, and wrong requests. */
function questionsFor({ leads, key, revokedKey }: BenchData): Question[] {
  const middle = leadAt(Math.floor(leads / 2), leads).identified_at;
  const slice = `since=${new Date(yearStartMs + 0.3 * yearMs).toISOString()}&before=${middle}`;
  const good = [
    ...["", "limit=1", "limit=100", `limit=7&${slice}`, slice],
    ...[`before=${middle}`, `before=${middle.replace("Z", "4Z")}`, `since=${middle}`],
    ...[`before=${leadAt(3, leads).identified_at}`, `before=${new Date(yearStartMs).toISOString()}`],
    ...demoPixels.map((id) => `pixel_id=${id}&limit=5`),
    ...["state=CA", "state=ca&has_email=true", "state=ZZ", "has_email=true", "has_email=false"],
    ...["city=San%20Diego", "city=SAN+DIEGO&has_email=true&limit=50", "city=Nowhere"],
    ...["state=CA&city=Miami", "state=CA&city=needles", "city=Portland&state=OR"],
    `pixel_id=px_shop&state=CA&city=Los%20Angeles&has_email=true&${slice}`,
  ];
  const refused = [
    ...["limit=0", "limit=101", "limit=1e1", "limit=", "limit=5&limit=5", "offset=25"],
    ...["before=yesterday", "before=", "since=2025-02-30T00:00:00Z"],
    ...["state=California", "has_email=1", "city=", "pixel_id=px_of_nobody"],
  ];
  const questions = [...good, ...refused].map((search): Question => [`/api/v1/leads?${search}`, key]);
  return [...questions, ["/api/v1/leads", null], ["/api/v1/leads", revokedKey]];
}

function answersOf(contestant: Contestant, questions: readonly Question[]): Promise<string[]> {
  return serving(contestant, async (url) => {
    const answers: string[] = [];
    for (const [target, key] of questions) answers.push(await summarize(await ask(url, target, key)));
    return answers;
  });
}

/** Values of headers differ by nature: what was counted, and when. So do the messages of errors. */
async function summarize(response: Response): Promise<string> {
  const text = await response.text();
  if (!response.ok) return `${response.status} ${JSON.parse(text).error.code}`;
  const headers = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "x-request-id", "cache-control"];
  return `200 ${headers.filter((name) => response.headers.has(name))} ${text}`;
}
