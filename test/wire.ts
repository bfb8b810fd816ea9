/** Requests byte by byte: fetch would tidy up the very methods and targets that a test is about. */
import { connect } from "node:net";

export interface WireAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

export interface WireRequest {
  readonly method?: string;
  readonly target?: string;
  /** Absent where null. */
  readonly host?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends one request as it stands and reads until the server closes the connection. */
export async function send(url: string, request: WireRequest): Promise<WireAnswer> {
  const { method = "GET", target = "/api/v1/leads", host = new URL(url).host, headers = {} } = request;
  const lines = [`${method} ${target} HTTP/1.1`];
  if (host !== null) lines.push(`Host: ${host}`);
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  return parse(await exchange(url, `${lines.join("\r\n")}\r\nConnection: close\r\n\r\n`));
}

function exchange(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const received: Buffer[] = [];
    const socket = connect(Number(port), hostname, () => socket.write(text, "latin1"));
    socket.on("data", (bytes) => received.push(Buffer.from(bytes)));
    socket.on("error", reject);
    socket.on("close", () => resolve(Buffer.concat(received).toString()));
  });
}

function parse(text: string): WireAnswer {
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) throw new Error(`this is no HTTP answer: ${JSON.stringify(text)}`);
  const [statusLine = "", ...lines] = text.slice(0, end).split("\r\n");
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return { status: Number(statusLine.split(" ")[1]), headers, body: text.slice(end + 4) };
}
