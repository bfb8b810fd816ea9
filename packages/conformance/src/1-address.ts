/** §1: HTTPS, and the redirect from the bare domain to the www host. */
import { isLoopback } from "../../client/src/settings.ts";
import { type Check, check, need, skip } from "./probe.ts";
import { paths } from "./specification.ts";

const target = `${paths.usage}?a=1`;

export const addressChecks: Check[] = [
  check("1", "the address is HTTPS", async ({ url }) => {
    if (url.protocol === "http:" && isLoopback(url.hostname)) skip("a loopback address may be plain HTTP");
    need(url.protocol === "https:", "the address that was given is plain HTTP");
  }),
  check("1", "the bare domain answers 308 to the www host, with the same path and query", async ({ url, ask }) => {
    if (!url.hostname.startsWith("www.")) skip("the address has no www host");
    const bare = `${url.protocol}//${url.host.slice("www.".length)}`;
    // Without a key: it is for the www host alone.
    const answer = await ask(target, { origin: bare, authorization: null });
    need(answer.status === 308, `${bare} answered ${answer.status}`);
    const location = answer.headers.get("location");
    need(location === `${url.origin}${target}`, `Location is ${location}`);
  }),
];
