/** bun admin demo: data to try the API with, in one command. */
import { describe, expect, test } from "bun:test";
import { anAdmin } from "../support/admin.ts";
import { client } from "../support/harness.ts";
import { start } from "../support/process.ts";

test("demo creates an account, three pixels, 1,000 leads of no real person, and a key that a server accepts", async () => {
  const admin = anAdmin([]);
  const { json, stderr, status } = await admin.run("demo", "--json");
  expect<unknown>({ ...json, status }).toEqual({
    account: expect.stringMatching(/^acc_/),
    pixels: [expect.any(String), expect.any(String), expect.any(String)],
    key: expect.stringMatching(/^lf_[0-9A-Za-z]{38}$/),
    url: "http://127.0.0.1:3000",
    status: 0,
  });
  expect(stderr).not.toContain(json.key);
  const leads = await admin.leads(json.account);
  expect(leads).toHaveLength(1000);
  expect(Date.parse(leads.at(-1)?.identified_at ?? "")).toBeLessThanOrEqual(Date.now());
  // Addresses of example.com, and fictional phone numbers.
  const odd = leads.filter(({ email, phone, page_url }) => {
    const isFictional = phone === null || /^1?\d{3}55501\d\d$/.test(phone);
    const isExample = (email ?? "@example.com").endsWith("@example.com");
    return !isFictional || !isExample || !page_url?.startsWith("https://www.example.com/");
  });
  expect(odd).toEqual([]);

  const url = await start({ DATABASE_PATH: admin.file }, admin.folder).listening();
  const api = client(url, { Authorization: `Bearer ${json.key}` });
  expect((await api.get("/leads?limit=3")).body.data).toEqual(leads.slice(-3).toReversed());
  // A second one creates only another key.
  const second = (await admin.run("demo", "--json")).json;
  expect({ ...second, key: "" }).toEqual({ ...json, key: "" });
  expect(second.key).not.toBe(json.key);
  expect(await admin.leads(json.account)).toHaveLength(1000);
});

test("the commands that it prints work as they are", async () => {
  const setUp = anAdmin([]);
  const url = await start({ DATABASE_PATH: setUp.file }, setUp.folder).listening();
  const { stdout } = await anAdmin([], { DATABASE_PATH: setUp.file, BASE_URL: url }).run("demo");
  const commands = stdout.split("\n").filter((line) => /^\s*(curl|export) /.test(line));
  expect(commands.length).toBeGreaterThanOrEqual(7);
  expect(stdout).toContain(`${url}/docs documents the API.`);
  const keyLine = commands[0] ?? "";
  for (const line of commands.slice(1)) {
    const shell = ["sh", "-c", `${keyLine}; ${line} -s -o /dev/null -w '%{http_code}'`];
    const { stdout } = await start({}, setUp.folder, shell).finished();
    expect([line, stdout]).toEqual([line, "200"]);
  }
});

describe("demo --live", () => {
  /** Runs it until a number of leads is printed, then stops it with Ctrl-C. */
  async function invented(seed: string, count: number) {
    const admin = anAdmin([]);
    const { complained, end, errors, output } = admin.start(
      ...["demo", "--live", "--json", "--every", "0.05", "--seed", seed],
    );
    await complained(RegExp(`(?:^\\d{4}-.* from [^]*){${count}}`, "m"));
    const status = await end("SIGINT");
    const { account } = JSON.parse(output());
    return { admin, account, said: errors(), status, leads: await admin.leads(account) };
  }

  test("goes on until Ctrl-C, a client that polls receives each printed lead once, and a seed gives the same visitors", async () => {
    const [one, same, other] = await Promise.all([invented("7", 4), invented("7", 4), invented("8", 4)]);
    const { admin, account, said, status, leads } = one;
    const printed = [...said.matchAll(/^\d{4}-\S+ {2}(.+) from /gm)].map(([, name]) => name ?? "");
    expect([status, said.split("\n").at(-2)]).toEqual([0, expect.stringMatching(/^Added \d+ leads\./)]);
    expect(printed.length).toBeGreaterThanOrEqual(4);
    expect(leads.slice(1000).map(({ name }) => name)).toEqual(printed);
    // The leads of the demo are one import, and those of a session are another one.
    const { json: imports } = await admin.run("import", "list", account, "--json");
    expect(imports).toMatchObject([{ imported: leads.length - 1000, state: "done" }, { imported: 1000 }]);
    const url = await start({ DATABASE_PATH: admin.file }, admin.folder).listening();
    const { key } = (await admin.run("key", "create", account, "--json")).json;
    const since = leads[999]?.identified_at ?? "";
    const page = await client(url, { Authorization: `Bearer ${key}` }).get(`/leads?since=${since}&limit=100`);
    expect(page.body.data.toReversed().slice(1)).toEqual(leads.slice(1000));

    const visitors = ({ leads }: typeof one) =>
      leads.slice(1000, 1004).map(({ id: _id, identified_at: _time, ...visitor }) => visitor);
    expect(visitors(same)).toEqual(visitors(one));
    expect(visitors(other)).not.toEqual(visitors(one));
  });

  test.each(["0", "-1", "1e3", "x", "99999"])("--every %s is a usage error", async (every) => {
    expect((await anAdmin([]).run("demo", "--live", "--every", every)).status).toBe(2);
  });
});
