/** Reads everything through a generated client, and prints what it got. */

interface Query {
  limit?: number;
  before?: string;
  since?: string;
  state?: string;
  has_email?: boolean;
}

/** The operations of a generated client. Each throws the body of an error response, or the error of its HTTP library. */
interface Client {
  leads(query: Query): Promise<{
    data: { id: string; identified_at: string; name: string | null }[];
    has_more: boolean;
    next_cursor: string | null;
  }>;
  pixels(): Promise<{ data: { id: string; status: string }[] }>;
  usage(): Promise<{ requests_today: number }>;
  /** The code of the error for a pixel that does not exist. */
  refused(): Promise<string | undefined>;
}

const [, , baseUrl = "", key = ""] = process.argv;

export { baseUrl, key };

/** Returns the body of a 200. Throws that of an error. */
export function ok<Body>({ data, error }: { data?: Body; error?: unknown }): Body {
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
}

export async function read(client: Client): Promise<void> {
  const leads: { id: string; identified_at: string }[] = [];
  let before: string | null = null;
  do {
    const query = { limit: 100, since: "2020-01-01T00:00:00Z", ...(before === null ? {} : { before }) };
    const page = await client.leads(query);
    leads.push(...page.data);
    before = page.has_more ? page.next_cursor : null;
  } while (before !== null);
  const filtered = await client.leads({ state: "NV", has_email: true });
  const pixels = await client.pixels();
  const usage = await client.usage();
  process.stdout.write(
    JSON.stringify({
      leads: new Set(leads.map(({ id }) => id)).size,
      newest: Math.floor(Date.parse(leads[0]?.identified_at ?? "") / 1000),
      names: filtered.data.map(({ name }) => name),
      pixels: pixels.data.map(({ id, status }) => `${id} ${status}`),
      requests: usage.requests_today,
      code: await client.refused(),
    }),
  );
}
