/** A port of the loopback for a program that cannot choose one itself, or that must have the same one again. */
import { createServer } from "node:net";

let portsTried = 0;

/**
 * A free port, which stays free until the test uses it: it is below those that the system gives
 * out, and each process of tests has eight of its own.
 */
export async function aFreePort(): Promise<number> {
  for (;;) {
    const port = 10_000 + (process.pid % 2_500) * 8 + (portsTried++ % 8);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.on("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
