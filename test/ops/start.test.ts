/** Starting the server: its first line, its file, its warnings, and what stops the start. */
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { aCertificate } from "../support/certificate.ts";
import { aFolder } from "../support/folder.ts";
import { needing } from "../support/needing.ts";
import { start } from "../support/process.ts";
import { keyIn } from "./running.ts";

test("a first start creates the file and says what to do next, and a later one does not", async () => {
  const first = start();
  await first.listening();
  expect(await first.end("SIGTERM")).toBe(0);
  const file = join(first.folder, "data/leadfile.db");
  // The path shows that DATABASE_PATH or the folder is wrong.
  expect(first.errors()).toMatch(/^There is no account in \S+ yet\. In another terminal: bun admin account create/);
  expect(first.errors()).toContain(` ${file} `);
  const modes = readdirSync(dirname(file)).map((name) => statSync(join(dirname(file), name)).mode & 0o777);
  expect(new Set(modes)).toEqual(new Set([0o600]));
  keyIn(file);
  const second = start({}, first.folder);
  await second.listening();
  expect(await second.end("SIGTERM")).toBe(0);
  expect(second.errors()).toBe("");
  // Its first page still shows that it is a Leadfile database.
  writeFileSync(file, readFileSync(file).fill(0xa5, 8192));
  const third = start({}, first.folder);
  expect(await third.exited).toBe(1);
  expect(third.errors()).toMatch(/^\S+ is damaged \([^\n]+bun admin restore FILE[^\n]+\n$/);
});

test("settings are also read from .env", async () => {
  const folder = aFolder();
  writeFileSync(join(folder, ".env"), "DATABASE_PATH=elsewhere.db\nRATE_LIMIT_PER_MIN=7\n");
  const server = start({}, folder);
  const answer = await fetch(`${await server.listening()}/api/v1/usage`);
  expect(answer.headers.get("x-ratelimit-limit")).toBe("7");
  expect(existsSync(join(folder, "elsewhere.db"))).toBe(true);
});

test("a port that is in use, or a host of another machine, stops the start with one line", async () => {
  using taken = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  const onPort = start({ PORT: String(taken.port) });
  expect([await onPort.exited, onPort.output()]).toEqual([1, ""]);
  expect(onPort.errors()).toMatch(new RegExp(`^[^\\n]*${taken.port}[^\\n]*PORT[^\\n]*\\n$`));
  const onHost = start({ HOST: "nosuch.invalid", TRUST_PROXY: "1" });
  expect([await onHost.exited, onHost.output()]).toEqual([2, ""]);
  expect(onHost.errors()).toMatch(/^HOST is "nosuch.invalid", which is not an address of this machine. [^\n]+\n$/);
});

test.each<[settings: Record<string, string>, isWarned: boolean, origin: string]>([
  [{ HOST: "0.0.0.0" }, true, "http://localhost:"],
  [{ HOST: "0.0.0.0", TRUST_PROXY: "1" }, false, "http://localhost:"],
  [{ HOST: "127.0.0.2" }, false, "http://127.0.0.2:"],
  [{ HOST: "::1" }, false, "http://[::1]:"],
])(
  "with %j, a warning of unencrypted keys is printed: %p, and links begin with %s",
  async (settings, isWarned, origin) => {
    const server = start(settings);
    const { hostname, port } = new URL(await server.listening());
    const reached = hostname === "0.0.0.0" ? "127.0.0.1" : hostname;
    const answer = await fetch(`http://${reached}:${port}/api/v1/leads`);
    expect(await answer.text()).toContain(`"docs":"${origin}${port}/docs#missing_api_key"`);
    await server.end("SIGTERM");
    expect(/^Warning: .*TLS.*\n/m.test(server.errors())).toBe(isWarned);
  },
);

needing("openssl")("a certificate that clients refuse for its dates is named at the start", async () => {
  const { TLS_CERT } = aCertificate();
  const source = join(import.meta.dir, "../../src/server/listen-address.ts");
  const code = `import { warnOfCertificate } from ${JSON.stringify(source)};
    const cert = await Bun.file(${JSON.stringify(TLS_CERT)}).text();
    for (const days of [-2, 1, 3]) warnOfCertificate({ cert, key: "" }, Date.now() + days * 86_400_000);`;
  const said = Bun.spawnSync([process.execPath, "-e", code]).stderr.toString().split("\n");
  expect(said).toEqual([
    expect.stringMatching(/^Warning: the certificate in TLS_CERT is not valid before \d{4}-\d\d-\d\d: /),
    expect.stringMatching(/^Warning: the certificate in TLS_CERT expired on \d{4}-\d\d-\d\d: /),
    "",
  ]);
});

needing("openssl")(
  "with TLS, browsers keep to HTTPS, and a key exchange without forward secrecy is refused",
  async () => {
    const { folder, ...tls } = aCertificate({ key: "rsa:2048" });
    const server = start(tls, folder);
    const { port } = new URL(await server.listening());
    const ca = await Bun.file(tls.TLS_CERT).text();
    const answer = await fetch(`https://localhost:${port}/docs`, { tls: { ca } });
    expect(answer.headers.get("strict-transport-security")).toBe("max-age=31536000");
    const negotiated = (cipher: string) => {
      const words = ["s_client", "-connect", `127.0.0.1:${port}`, "-tls1_2", "-cipher", cipher];
      return Bun.spawnSync(["openssl", ...words], { stdin: Buffer.from("Q\n") }).stdout.toString();
    };
    expect(negotiated("ECDHE-RSA-AES128-GCM-SHA256")).toContain("Cipher is ECDHE-RSA-AES128-GCM-SHA256");
    for (const cipher of ["AES128-GCM-SHA256", "AES256-SHA", "ECDHE-RSA-AES128-SHA"])
      expect(negotiated(cipher)).toContain("Cipher is (NONE)");
  },
);

needing("openssl")(
  "with a certificate the server speaks HTTPS, knows a client on this machine, and warns of nothing",
  async () => {
    const { folder, ...tls } = aCertificate();
    const server = start({ ...tls, HOST: "0.0.0.0" }, folder);
    const { port } = new URL(await server.listening());
    const url = `https://127.0.0.1:${port}`;
    const ca = await Bun.file(tls.TLS_CERT).text();
    const answer = await fetch(`${url}/api/v1/leads`, { tls: { ca } });
    expect([answer.status, await answer.text()]).toEqual([
      401,
      expect.stringContaining(`"docs":"https://localhost:${port}/docs#`),
    ]);
    const metrics = (headers = {}) => fetch(`${url}/metrics`, { tls: { ca }, headers });
    expect([(await metrics()).status, (await metrics({ Forwarded: "for=192.0.2.7" })).status]).toEqual([200, 404]);
    expect(await server.end("SIGTERM")).toBe(0);
    expect(server.errors()).not.toContain("Warning");
  },
);
