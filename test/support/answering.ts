/** A server in the place of another one, which answers as the test says. */
import { onTestFinished } from "bun:test";

/** Starts the server on a free port, until the test ends. Returns its origin. */
export function answering(fetch: (request: Request) => Response | Promise<Response>): string {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch });
  onTestFinished(() => server.stop(true));
  return server.url.origin;
}
