/** A bad line between client and server: it breaks connections, cuts bodies short, and answers in the server's place. */
import { onTestFinished } from "bun:test";
import { createServer, type Socket } from "node:net";

/** The fault of one request. */
export type Fault = "none" | "drop" | "cut" | "html" | "garbage" | "busy" | "late";

export const everyFault: readonly Fault[] = ["drop", "cut", "html", "garbage", "busy", "late"];

export interface Line {
  readonly url: string;
  /** The heads of all requests, as they came. */
  readonly heads: string[];
  /** The faults of the next requests, in order; later requests succeed. */
  readonly faults: Fault[];
}

/** The delay of a late response. */
const lateMs = 3_000;

/** Opens a line to a server whose clock says what Date is. */
export async function aLine(server: { url: string; clock: { nowMs: number } }): Promise<Line> {
  const heads: string[] = [];
  const faults: Fault[] = [];
  const sockets = new Set<Socket>();
  const listener = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
    socket.on("data", (bytes) => {
      const head = bytes.toString("latin1");
      heads.push(head);
      // A test may be over before its last request is: the server is gone then, and the line as well.
      answer(socket, head, faults.shift() ?? "none", server).catch(() => socket.destroy());
    });
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    listener.close();
  });
  const address = listener.address();
  if (address === null || typeof address === "string") throw new Error("the line has no port");
  return { url: `http://127.0.0.1:${address.port}`, heads, faults };
}

async function answer(
  socket: Socket,
  head: string,
  fault: Fault,
  server: { url: string; clock: { nowMs: number } },
): Promise<void> {
  if (fault === "drop") return void socket.destroy();
  if (fault === "html") return write(socket, 502, {}, "<html><h1>Bad Gateway</h1></html>");
  if (fault === "garbage") return write(socket, 200, {}, '{"object":"list","data":[{"id":');
  if (fault === "busy") return write(socket, 429, { "Retry-After": "7" }, "Too Many Requests");
  const [, target = "/"] = head.split(" ");
  const authorization = /^authorization: (.*)\r$/im.exec(head)?.[1];
  const response = await fetch(`${server.url}${target}`, {
    headers: authorization === undefined ? {} : { Authorization: authorization },
    redirect: "manual",
  });
  const text = await response.text();
  if (fault === "late") await Bun.sleep(lateMs);
  const headers = { ...Object.fromEntries(response.headers), date: new Date(server.clock.nowMs).toUTCString() };
  write(socket, response.status, headers, text, fault === "cut" ? 0.5 : 1);
}

/** Promises the whole body, and sends this share of it. */
function write(
  socket: Socket,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: string,
  share = 1,
): void {
  const bytes = Buffer.from(body);
  const all = { ...headers, "content-length": String(bytes.length), connection: "close" };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`HTTP/1.1 ${status} Said\r\n${lines.join("")}\r\n`);
  socket.end(bytes.subarray(0, Math.floor(bytes.length * share)));
}
