/** Clients of the API: single requests, walks over all pages, and continuous load. */
import type { Lead } from "../../../src/contract/lead.ts";

export interface Asked {
  /** The start of the request, by performance.now(). */
  readonly atMs: number;
  readonly tookMs: number;
  /** 0 if there was no answer. */
  readonly status: number;
}

export interface Answered extends Asked {
  readonly text: string;
}

/** Sends a request of a key to a server at an address, and reads the whole answer. */
export async function ask(url: string, key: string, target = "leads", maxMs = 60_000): Promise<Answered> {
  const atMs = performance.now();
  const read = async () => {
    const headers = { Authorization: `Bearer ${key}` };
    const response = await fetch(`${url}/api/v1/${target}`, { headers, signal: AbortSignal.timeout(maxMs) });
    return { status: response.status, text: await response.text() };
  };
  const answer = await read().catch(() => ({ status: 0, text: "" }));
  return { atMs, tookMs: performance.now() - atMs, ...answer };
}

/** Returns all leads that a query finds, newest first. Throws if a page is refused. */
export async function readPages(query: string, askPage: (target: string) => Promise<Answered>): Promise<Lead[]> {
  const leads: Lead[] = [];
  for (let before = ""; ; ) {
    const { status, text } = await askPage(`leads?${query}${before}`);
    if (status !== 200) throw new Error(`leads?${query}${before} was answered with ${status}: ${text}`);
    const page = JSON.parse(text) as { data: Lead[]; next_cursor: string | null }; // As §4.1 promises.
    leads.push(...page.data);
    if (page.next_cursor === null) return leads;
    before = `&before=${page.next_cursor}`;
  }
}

/** Starts clients that repeat their work concurrently. Returns their results so far, and a function that ends them. */
export function startClients<Done>(clients: readonly (() => Promise<Done>)[], pauseMs = 0) {
  const done: Done[] = [];
  let isOver = false;
  const repeat = async (work: () => Promise<Done>) => {
    for (; !isOver; await Bun.sleep(pauseMs)) done.push(await work());
  };
  // A failure of one client ends all.
  const working = Promise.all(clients.map(repeat)).finally(() => (isOver = true));
  return {
    done: done as readonly Done[],
    isOver: () => isOver,
    /** Waits until each client has finished its current work. Returns all results. */
    async end(): Promise<readonly Done[]> {
      isOver = true;
      await working;
      return done;
    },
  };
}
