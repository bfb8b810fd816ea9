/** §3, §4, §5, §7: keys, methods, and paths, and the errors for wrong ones. */
import { type Check, check, need, needError, type Probe, type RequestOptions, skip } from "./probe.ts";
import { paths } from "./specification.ts";

/** A key that no server has. */
const unknownKey = "lf_00000000000000000000000000000000000000";

export const accessChecks: Check[] = [
  expecting("3", "a revoked key is refused", "401 revoked_api_key", ({ keys }) => {
    if (keys.revoked === null) skip("no revoked key was given");
    return { authorization: `Bearer ${keys.revoked}` };
  }),
  expecting("3", "without a subscription", "403 subscription_required", ({ keys }) => {
    if (keys.unsubscribed === null) skip("no key of an account without a subscription was given");
    return { authorization: `Bearer ${keys.unsubscribed}` };
  }),
  ...["POST", "PUT", "PATCH", "DELETE"].map((method) =>
    expecting("4", `${method} is refused`, "405 method_not_allowed", () => ({ method })),
  ),
  ...["/api/v1/lead", "/api/v1", "/api/v1/leads/1"].map((path) =>
    check("4", `${path} is no endpoint: 404 not_found`, async ({ ask }) => needError(await ask(path), "404 not_found")),
  ),
  expecting("5", "no Authorization header", "401 missing_api_key", () => ({ authorization: null })),
  expecting("5", "another scheme than Bearer", "401 missing_api_key", () => ({ authorization: "Basic bGVhZDpmaWxl" })),
  expecting("5", "a key that does not exist", "401 invalid_api_key", () => ({ authorization: `Bearer ${unknownKey}` })),
  check("5", "a key in the URL is no key: it answers 401 or 400", async ({ ask, keys }) => {
    // A key that works must never be in a URL.
    const key = keys.revoked ?? unknownKey;
    const { status } = await ask(`${paths.usage}?api_key=${key}`, { authorization: null });
    need(status === 401 || status === 400, `it answered ${status}`);
  }),
];

/** Every endpoint must answer a request of this kind in the same way. */
function expecting(section: string, what: string, wanted: string, how: (probe: Probe) => RequestOptions): Check {
  return check(section, `${what}: ${wanted}`, async (probe) => {
    const options = how(probe);
    for (const path of Object.values(paths)) needError(await probe.ask(path, options), wanted);
  });
}
