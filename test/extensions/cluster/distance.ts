/** Proxies that delay what they forward, in place of a long way between two machines. */
import { onTestFinished } from "bun:test";
import { connect, createServer, type Socket } from "node:net";

/**
 * Forwards another port of the same host to an address until the test ends, and delays all bytes by a time that may grow.
 * Returns the address of that port.
 */
export function delayed(address: string, delayMs: () => number): string {
  const [host = "", port = ""] = address.split(":");
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(port), host);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      // Timers of the same length fire in their order, and the length only grows.
      from.on("data", (bytes) => setTimeout(() => to.write(bytes), delayMs()));
      from.on("close", () => setTimeout(() => to.destroy(), delayMs()));
      from.on("error", () => {});
    }
  });
  const other = Number(port) + 100;
  server.listen(other, host);
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return `${host}:${other}`;
}
