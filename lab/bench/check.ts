/** Compares the answers of both servers: the same bytes of a page, the same refusals, the same headers. */
import { demoPixels } from "../../src/cli/demo/leads.ts";
import type { BenchData } from "./data.ts";
import { leadAt, yearMs, yearStartMs } from "./leads.ts";
import { ask, hono, leadfile, serving } from "./servers.ts";

/** Throws an Error that names the first question to which the other server answers otherwise than Leadfile. */
export async function checkAnswers(data: BenchData): Promise<number> {
  const asked = searchesFor(data.leads).map((search) => [search, data.key] as const);
  const questions = [...asked, ["", null] as const, ["", data.revokedKey] as const];
  const [ours = [], theirs = []] = await Promise.all(
    [leadfile(data.leadfile), hono(data.relational)].map((contestant) =>
      serving(contestant, async (url) => {
        const answers: string[] = [];
        for (const [search, key] of questions) answers.push(await summarize(await ask(url, `${path}?${search}`, key)));
        return answers;
      }),
    ),
  );
  for (const [place, [search]] of questions.entries()) {
    const [our = "", their = ""] = [ours[place], theirs[place]];
    if (our === their) continue;
    throw new Error(`Hono answers ?${search} with ${their.slice(0, 600)}; Leadfile with ${our.slice(0, 600)}`);
  }
  return questions.length;
}

const path = "/api/v1/leads";

/** The queries: every filter alone and with others, bounds, the ends of the data, and wrong ones. */
function searchesFor(leads: number): string[] {
  const middle = leadAt(Math.floor(leads / 2), leads).identified_at;
  const slice = `since=${new Date(yearStartMs + 0.3 * yearMs).toISOString()}&before=${middle}`;
  return [
    ...["", "limit=1", "limit=100", `limit=7&${slice}`, slice],
    ...[`before=${middle}`, `before=${middle.replace("Z", "4Z")}`, `since=${middle}`],
    ...[`before=${leadAt(3, leads).identified_at}`, `before=${new Date(yearStartMs).toISOString()}`],
    ...demoPixels.map((id) => `pixel_id=${id}&limit=5`),
    ...["state=CA", "state=ca&has_email=true", "state=ZZ", "has_email=true", "has_email=false"],
    ...["city=San%20Diego", "city=SAN+DIEGO&has_email=true&limit=50", "city=Nowhere"],
    ...["state=CA&city=Miami", "state=CA&city=needles", "city=Portland&state=OR"],
    `pixel_id=px_shop&state=CA&city=Los%20Angeles&has_email=true&${slice}`,
    ...["limit=0", "limit=101", "limit=1e1", "limit=", "limit=5&limit=5", "offset=25"],
    ...["before=yesterday", "before=", "since=2025-02-30T00:00:00Z"],
    ...["state=California", "has_email=1", "city=", "pixel_id=px_of_nobody"],
  ];
}

/** Values of headers differ by nature: what was counted, and when. So do the messages of errors. */
async function summarize(response: Response): Promise<string> {
  const text = await response.text();
  if (!response.ok) return `${response.status} ${JSON.parse(text).error.code}`;
  const headers = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "x-request-id", "cache-control"];
  return `200 ${headers.filter((name) => response.headers.has(name))} ${text}`;
}
