/** The client behind the tools: it waits less than others do, because whoever calls a tool waits for it. */
import type { Leadfile, LeadfileOptions } from "../../../client/src/leadfile.ts";
import { createClient } from "../api-client.ts";

/** Programs that call tools give up after a minute: a longer wait becomes an answer that says how long. */
export function createToolClient(options: Pick<LeadfileOptions, "baseUrl" | "key" | "allowPlainHttp">): Leadfile {
  return createClient({ ...options, longestWait: "40s", timeout: "20s", retries: 2 });
}
