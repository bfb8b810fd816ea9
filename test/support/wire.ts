/** Requests byte by byte: fetch would tidy up the very methods and targets that a test is about. */
import { connect } from "node:net";
import { connect as connectTls } from "node:tls";

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
  readonly body?: string;
}

/** Sends one request unchanged, and reads until the server closes the connection. */
export async function send(url: string, request: WireRequest): Promise<WireAnswer> {
  const { method = "GET", target = "/api/v1/leads", host = new URL(url).host, headers = {}, body = "" } = request;
  const lines = [`${method} ${target} HTTP/1.1`];
  if (host !== null) lines.push(`Host: ${host}`);
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  if (body !== "") lines.push(`Content-Length: ${Buffer.byteLength(body, "latin1")}`);
  return sendText(url, `${lines.join("\r\n")}\r\nConnection: close\r\n\r\n${body}`, host);
}

/** Sends any text at all; over https whatever the certificate is, as to the host that is named. */
export async function sendText(url: string, text: string, host: string | null = null): Promise<WireAnswer> {
  return parse(await exchange(url, text, host));
}

/** Sends raw text on one connection, and returns everything received until the server closes it. */
export function exchange(url: string, text: string, host: string | null = null): Promise<string> {
  const { hostname, port, protocol } = new URL(url);
  return new Promise((resolve, reject) => {
    const received: Buffer[] = [];
    const write = () => void socket.write(text, "latin1");
    const tls = { host: hostname, port: Number(port), servername: host ?? "", rejectUnauthorized: false };
    const socket = protocol === "https:" ? connectTls(tls, write) : connect(Number(port), hostname, write);
    socket.on("data", (bytes) => received.push(Buffer.from(bytes)));
    socket.on("error", reject);
    socket.on("close", () => resolve(Buffer.concat(received).toString()));
  });
}

/** The status codes of the responses on one connection. */
export const statusesOf = (answer: string) =>
  [...answer.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));

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
