/** The programs on the page at /docs, each complete in itself; a test runs every one of them. */
import { paths } from "../../contract/paths.ts";

export type Language = "curl" | "typescript" | "python";
export type Programs = Readonly<Partial<Record<Language, string>>>;

/** A text between the double quotes of a shell. */
const inShell = (text: string) => text.replaceAll(/[\\"$`]/g, "\\$&");
/** A text as a literal of TypeScript and of Python. */
const literal = (text: string) => JSON.stringify(text);

const curl = (url: string) => `curl -H "Authorization: Bearer $LEADFILE_KEY" \\\n  "${inShell(url)}"`;

const typescriptHead = (origin: string) => `const api = ${literal(`${origin}/api/v1`)};
const headers = { Authorization: \`Bearer \${process.env.LEADFILE_KEY}\` };
`;

const pythonHead = (origin: string, modules = "json, os, urllib.error, urllib.request") => `import ${modules}

api = ${literal(`${origin}/api/v1`)}
headers = {"Authorization": "Bearer " + os.environ["LEADFILE_KEY"]}

class NoRedirect(urllib.request.HTTPRedirectHandler):
    """urllib would send the key along to another host."""
    def redirect_request(self, *_):
        return None

opener = urllib.request.build_opener(NoRedirect)
`;

/** Gets a page of leads. At the limit it waits as long as the answer says, so that no program ends halfway. */
const typescriptPage = `
async function getPage(query: Record<string, string>): Promise<any> {
  const answer = await fetch(\`\${api}/leads?\${new URLSearchParams(query)}\`, { headers });
  const page: any = await answer.json();
  if (answer.ok) return page;
  if (answer.status !== 429) throw new Error(\`\${page.error.code}: \${page.error.message}\`);
  await new Promise((resolve) => setTimeout(resolve, 1000 * Number(answer.headers.get("retry-after"))));
  return getPage(query);
}
`;

const pageModules = "json, os, time, urllib.error, urllib.parse, urllib.request";

const pythonPage = (origin: string, modules = pageModules) => `${pythonHead(origin, modules)}
def get_page(query):
    url = api + "/leads?" + urllib.parse.urlencode(query)
    try:
        with opener.open(urllib.request.Request(url, headers=headers)) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as refusal:
        if refusal.code != 429:
            raise SystemExit(refusal.read().decode())
        time.sleep(int(refusal.headers["Retry-After"]))
        return get_page(query)
`;

/** The first page of leads. */
export const firstRequest = (origin: string): Programs => ({
  curl: curl(`${origin}${paths.leads}?limit=5`),
  typescript: `${typescriptHead(origin)}
const answer = await fetch(\`\${api}/leads?limit=5\`, { headers });
const page: any = await answer.json();
if (!answer.ok) throw new Error(\`\${page.error.code}: \${page.error.message}\`);
for (const lead of page.data) console.log(lead.identified_at, lead.name, lead.email);
`,
  python: `${pythonHead(origin)}
request = urllib.request.Request(api + "/leads?limit=5", headers=headers)
try:
    with opener.open(request) as answer:
        page = json.load(answer)
except urllib.error.HTTPError as refusal:
    raise SystemExit(refusal.read().decode())
for lead in page["data"]:
    print(lead["identified_at"], lead["name"], lead["email"])
`,
});

/** All leads, page by page. */
export const paging = (origin: string): Programs => ({
  curl: `${curl(`${origin}${paths.leads}?limit=100`)}
# the next page: the next_cursor of the one before
${curl(`${origin}${paths.leads}?limit=100&before=2026-01-31T09:15:00.123Z`)}`,
  typescript: `${typescriptHead(origin)}${typescriptPage}
async function* allLeads() {
  for (let before = ""; ; ) {
    const page = await getPage({ limit: "100", ...(before && { before }) });
    yield* page.data;
    if (!page.has_more) return;
    before = page.next_cursor;
  }
}

let count = 0;
for await (const lead of allLeads()) count += 1;
console.log(count, "leads");
`,
  python: `${pythonPage(origin)}
def all_leads():
    query = {"limit": 100}
    while True:
        page = get_page(query)
        yield from page["data"]
        if not page["has_more"]:
            return
        query["before"] = page["next_cursor"]

print(sum(1 for lead in all_leads()), "leads")
`,
});

/** New leads for ever, each once. */
export const polling = (origin: string): Programs => ({
  curl: curl(`${origin}${paths.leads}?limit=100&since=2026-01-31T09:15:00.123Z`),
  typescript: `${typescriptHead(origin)}${typescriptPage}
// Keep both on disk to go on after a restart.
let since = new Date(Date.now() - 3_600_000).toISOString();
let newest = "";

for (;;) {
  const fresh = [];
  for (let before = ""; ; ) {
    const page = await getPage({ since, limit: "100", ...(before && { before }) });
    fresh.push(...page.data.filter((lead: any) => lead.id !== newest));
    if (!page.has_more) break;
    before = page.next_cursor;
  }
  for (const lead of fresh.reverse()) {
    console.log(lead.identified_at, lead.name, lead.email);
    since = lead.identified_at;
    newest = lead.id;
  }
  await new Promise((resolve) => setTimeout(resolve, 30_000));
}
`,
  python: `${pythonPage(origin, `${pageModules}\nfrom datetime import datetime, timedelta, timezone`)}
# Keep both on disk to go on after a restart.
since = (datetime.now(timezone.utc) - timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
newest = None

while True:
    fresh, query = [], {"since": since, "limit": 100}
    while True:
        page = get_page(query)
        fresh += [lead for lead in page["data"] if lead["id"] != newest]
        if not page["has_more"]:
            break
        query["before"] = page["next_cursor"]
    for lead in reversed(fresh):
        print(lead["identified_at"], lead["name"], lead["email"], flush=True)
        since, newest = lead["identified_at"], lead["id"]
    time.sleep(30)
`,
});

/** One request, repeated where that can help. */
export const retrying = (origin: string): Programs => ({
  curl: `curl --fail --retry 5 -H "Authorization: Bearer $LEADFILE_KEY" \\\n  "${inShell(`${origin}${paths.usage}`)}"`,
  typescript: `${typescriptHead(origin)}
async function get(path: string) {
  for (let attempt = 1; ; attempt += 1) {
    const answer = await fetch(api + path, { headers });
    if (answer.ok) return answer.json();
    const { error }: any = await answer.json();
    const passing = answer.status === 429 || answer.status >= 500;
    if (!passing || attempt === 5) throw new Error(\`\${error.code}: \${error.message}\`);
    // Retry-After comes with a 429; after a 500 wait a little longer each time.
    const seconds = Number(answer.headers.get("retry-after") ?? 2 ** attempt);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
}

console.log(await get("/usage"));
`,
  python: `${pythonHead(origin, "json, os, time, urllib.error, urllib.request")}
def get(path):
    for attempt in range(1, 6):
        try:
            with opener.open(urllib.request.Request(api + path, headers=headers)) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refusal:
            passing = refusal.code == 429 or refusal.code >= 500
            if not passing or attempt == 5:
                raise SystemExit(refusal.read().decode())
            # Retry-After comes with a 429; after a 500 wait a little longer each time.
            time.sleep(int(refusal.headers.get("Retry-After", 2**attempt)))

print(get("/usage"))
`,
});
