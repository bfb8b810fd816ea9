/** What is not part of the API: the documentation, health and metrics. No key, no limit. */
import { ApiError } from "../contract/errors.ts";
import { publicPaths } from "../contract/paths.ts";
import type { RequestContext } from "./context.ts";
import { explorerAssets } from "./docs/explorer.ts";

const known: ReadonlySet<string> = new Set([...Object.values(publicPaths), ...Object.keys(explorerAssets)]);

/** A watchdog that asks by IP address must not be redirected. */
export const neverRedirected: ReadonlySet<string> = new Set([publicPaths.health, publicPaths.metrics]);

/** Whether a path is outside the API, even if nothing is there. */
export function isPublic(path: string): boolean {
  return known.has(path) || path.startsWith(`${publicPaths.docs}/`);
}

/** Throws where a request for a public path asks for what is not there, or with another method than GET and HEAD. */
export function checkPublic({ request, path }: RequestContext): void {
  if (request.method !== "GET" && request.method !== "HEAD") {
    throw new ApiError("method_not_allowed", "This path takes GET and HEAD.");
  }
  if (!known.has(path)) throw new ApiError("not_found", `There is nothing at this path; see ${publicPaths.docs}.`);
}
