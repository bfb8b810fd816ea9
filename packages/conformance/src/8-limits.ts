/** §8, and the rules for every response (§4, §7), which are checked last, when there are responses of every kind. */
import { errorCodes, isErrorCode } from "../../client/src/errors.ts";
import { type Check, check, Failed, need, needError, needShape, type Probe, skip } from "./probe.ts";
import { errorBody, limitPerMin, paths, usage } from "./specification.ts";

export const everyAnswerChecks: Check[] = [
  check("4", "every answer is JSON", async ({ answers }) => {
    for (const { asked, body, headers } of answers) {
      need(body !== undefined, `${asked} gave a body that is no JSON`);
      need(/json/.test(headers.get("content-type") ?? ""), `${asked} says that its body is no JSON`);
    }
  }),
  check("7", "every error has the body and the status of its code", async ({ answers }) => {
    for (const { asked, status, body } of answers.filter((answer) => answer.status >= 400)) {
      const { code } = needShape(errorBody, body, asked).error;
      need(isErrorCode(code), `${asked} has the unknown error code ${code}`);
      need(errorCodes[code][0] === status, `${asked} answered ${code} with ${status}`);
    }
  }),
  check("7", "internal_error and query_failed answer a failure of the server", async () =>
    skip("a failure of the server cannot be caused from outside"),
  ),
  check("8", "every answer has X-RateLimit-Limit and X-RateLimit-Remaining", async ({ answers }) => {
    for (const { asked, headers } of answers) {
      const [limit, left] = [headers.get("x-ratelimit-limit"), headers.get("x-ratelimit-remaining")];
      need(/^\d+$/.test(limit ?? ""), `${asked}: X-RateLimit-Limit is ${limit}`);
      need(/^\d+$/.test(left ?? ""), `${asked}: X-RateLimit-Remaining is ${left}`);
      need(Number(left) <= Number(limit), `${asked}: more requests remain than the limit allows`);
    }
  }),
  check("8", "the limit of a key is 60 a minute, and /usage says the same", async ({ ask }) => {
    const { headers, body } = await ask(paths.usage);
    const limit = headers.get("x-ratelimit-limit");
    need(limit === String(limitPerMin), `X-RateLimit-Limit is ${limit}`);
    const said = needShape(usage, body, "/usage").rate_limit_per_min;
    need(said === limitPerMin, `rate_limit_per_min is ${said}`);
  }),
  check("8", "calls to /usage count toward the totals and the limit", async ({ ask }) => {
    for (let attempt = 0; ; attempt++) {
      const [one, two] = [await ask(paths.usage), await ask(paths.usage)];
      const [left, next] = [one, two].map(({ headers }) => Number(headers.get("x-ratelimit-remaining")));
      const [today, later] = [one, two].map(({ asked, body }) => needShape(usage, body, asked).requests_today);
      const sameWindow = Number(next) < Number(left) && Number(later) > Number(today);
      if (sameWindow) return;
      // A minute or a day may have ended between the two.
      need(attempt < 1, `after ${today} requests and ${left} left came ${later} and ${next} left`);
    }
  }),
];

export const limitChecks: Check[] = [
  check("8", "the request past the limit is refused: 429 rate_limit_exceeded, Retry-After: 60", async (probe) => {
    if (!probe.limits) skip("needs --limits, which uses up a rate-limit window");
    const refused = await useUp(probe.ask);
    needError(refused, "429 rate_limit_exceeded");
    const after = refused.headers.get("retry-after");
    need(after === "60", `Retry-After is ${after}`);
    need(refused.headers.get("x-ratelimit-remaining") === "0", "X-RateLimit-Remaining of the 429 is not 0");
    await probe.nextWindow(refused);
    const { status } = await probe.ask(paths.pixels, { overLimit: true });
    need(status === 200, `in the next window it answered ${status}`);
  }),
];

/** Sends requests until a 429, at most as many as two windows allow. */
async function useUp(ask: Probe["ask"]) {
  for (let count = 0; count <= 2 * limitPerMin; count++) {
    const answer = await ask(paths.pixels, { overLimit: true });
    if (answer.status === 429) return answer;
    const left = answer.headers.get("x-ratelimit-remaining");
    need(count < limitPerMin || left !== "0", "the limit was used up, and the next request was served");
  }
  throw new Failed(`${2 * limitPerMin + 1} requests were served one after the other, and none was refused`);
}
