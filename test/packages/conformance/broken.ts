/** A server that breaks one rule: a proxy changes its requests or responses. */
import { onTestFinished } from "bun:test";

export interface Reply {
  status: number;
  readonly headers: Headers;
  /** Undefined where `text` is no JSON. */
  body: Json;
}

export interface Json {
  data?: Record<string, unknown>[];
  next_cursor?: string | null;
  has_more?: boolean;
  error?: Record<string, unknown>;
  [name: string]: unknown;
}

export interface Break {
  /** Changes a request. */
  readonly ask?: (url: URL, request: Request) => void;
  /** Changes a response. */
  readonly tell?: (reply: Reply, url: URL, request: Request) => void;
}

/** Starts a proxy of a server, whose URL may be set later, and returns its address. */
export function proxyOf(server: { url: string }, { ask, tell }: Break = {}): URL {
  const before = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const url = new URL(request.url);
      const asked = new URL(url.pathname + url.search, server.url);
      ask?.(asked, request);
      const { method } = request;
      const response = await fetch(asked, { method, headers: request.headers, redirect: "manual" });
      const reply: Reply = {
        status: response.status,
        headers: new Headers(response.headers),
        body: await read(response),
      };
      tell?.(reply, url, request);
      reply.headers.delete("content-length");
      return new Response(JSON.stringify(reply.body), { status: reply.status, headers: reply.headers });
    },
  });
  onTestFinished(() => before.stop(true));
  return before.url;
}

async function read(response: Response): Promise<Json> {
  return (await response.json()) as Json; // The server conforms, and every answer is an object.
}
