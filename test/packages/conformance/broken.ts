/** A server that conforms but for one thing: what stands before it changes the questions or the answers. */
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
  /** Changes what the server is asked. */
  readonly ask?: (url: URL, request: Request) => void;
  /** Changes what it answered. */
  readonly tell?: (reply: Reply, url: URL, request: Request) => void;
}

/** Stands before a server, which may be named later; gives its own address. */
export function standBefore(server: { url: string }, { ask, tell }: Break = {}): URL {
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
