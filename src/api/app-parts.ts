/** What the app is made of: all that it needs to answer requests. */
import type { Logger } from "pino";
import type { Limiter } from "../limiter.ts";
import type { RequestStore } from "../store/serving.ts";

export interface AppParts {
  readonly store: RequestStore;
  readonly limiter: Limiter;
  readonly log: Logger;
  readonly now: () => number;
  /** The public origin, such as https://www.example.com. */
  readonly baseUrl: string;
  /** What stands before an admin command on this machine, such as `bun admin`. */
  readonly adminCommand: string;
  /** Whether X-Forwarded-Host and X-Forwarded-Proto are those of a proxy that we trust. */
  readonly trustProxy: boolean;
  /** Whether /metrics is for everybody, and not for this machine alone. */
  readonly publicMetrics: boolean;
  /** The address of a request's client. */
  readonly addressOf: (request: Request) => string | undefined;
  /** What came in and was not imported yet, for /metrics. */
  readonly inflow: () => Inflow;
}

/** What waits for its import, as of now. */
export interface Inflow {
  /** The size of the deliveries that wait. */
  readonly spoolBytes: number;
  /** How many files nobody could read. */
  readonly failedFiles: number;
}

/** An answer beside the API, such as a page. */
export interface PublicAnswer {
  readonly status: number;
  readonly body: string | Blob;
  readonly headers: Readonly<Record<string, string>>;
}
