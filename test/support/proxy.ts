/** nginx and Caddy as their owner runs them: the files of deploy/, with ports and folders of a test put in. */
import { expect } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { aCertificate, type Certificate } from "./certificate.ts";
import { eventually, until } from "./eventually.ts";
import { aFolder } from "./folder.ts";
import { aFreePort } from "./free-port.ts";
import { endWithTest } from "./process.ts";

const deploy = join(import.meta.dir, "../../deploy");

type FrontProxy = Awaited<ReturnType<typeof startProxy>>;

/**
 * Starts the program on free ports of the loopback, in front of a server on a port, and of a webhook endpoint; it ends
 * with the test.
 */
export async function startProxy(
  program: "nginx" | "caddy",
  serverPort: number,
  receivePort = serverPort,
  connections = 512,
) {
  const [httpPort, httpsPort] = [await aFreePort(), await aFreePort()];
  const folder = aFolder();
  const certificate = aCertificate({ names: ["www.example.com", "example.com"] });
  const ports = { serverPort, receivePort, httpPort, httpsPort, connections };
  const command = program === "nginx" ? setUpNginx(folder, ports, certificate) : setUpCaddy(folder, ports, certificate);
  const log = join(folder, "said.log");
  const child = Bun.spawn(command, {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    stdin: "ignore",
    stdout: Bun.file(join(folder, "out.log")),
    stderr: Bun.file(log),
  });
  endWithTest(child, "SIGTERM");
  const http = `http://127.0.0.1:${httpPort}`;
  const isAnswering = async () => (await fetch(http, { redirect: "manual" }).catch(() => null)) !== null;
  await until(async () => child.exitCode !== null || (await isAnswering()));
  // Caddy may listen for HTTPS a moment after HTTP.
  const socket = { open: (opened: Bun.Socket) => void opened.end(), data() {} };
  const connect = () => Bun.connect({ hostname: "127.0.0.1", port: httpsPort, socket }).catch(() => null);
  await until(async () => child.exitCode !== null || (await connect()) !== null);
  if (child.exitCode !== null) throw new Error(`it does not answer: ${readFileSync(log, "utf8")}`);
  const read = (name: string) => readFileSync(join(folder, name), { encoding: "utf8", flag: "a+" });
  return {
    http,
    https: `https://127.0.0.1:${httpsPort}`,
    /** All that it has written to logs so far. */
    logs: () => ["said.log", "out.log", "leadfile.log", "leadfile-error.log"].map(read).join(""),
  };
}

interface Ports {
  readonly serverPort: number;
  readonly receivePort: number;
  readonly httpPort: number;
  readonly httpsPort: number;
  /** The maximum of open connections of nginx. */
  readonly connections: number;
}

/** The text with each part replaced; throws where a part is not there, because the test would test something else. */
export function replaceAll(text: string, parts: Readonly<Record<string, string>>): string {
  let replaced = text;
  for (const [from, to] of Object.entries(parts)) {
    if (!replaced.includes(from)) throw new Error(`the configuration has no ${from} any more`);
    replaced = replaced.replaceAll(from, to);
  }
  return replaced;
}

function setUpNginx(
  folder: string,
  { serverPort, receivePort, httpPort, httpsPort, connections }: Ports,
  pair: Certificate,
): string[] {
  mkdirSync(join(folder, "snippets"));
  const snippet = replaceAll(readFileSync(join(deploy, "nginx/snippet.conf"), "utf8"), {
    "client_header_timeout 10s": "client_header_timeout 1s",
    "/var/log/nginx": folder,
  });
  writeFileSync(join(folder, "snippets/leadfile.conf"), snippet);
  const site = replaceAll(withWww("nginx"), {
    "server 127.0.0.1:3000": `server 127.0.0.1:${serverPort}`,
    "server 127.0.0.1:3001": `server 127.0.0.1:${receivePort}`,
    "    listen [::]:80;\n": "",
    "    listen [::]:443 ssl;\n": "",
    "listen 80;": `listen 127.0.0.1:${httpPort};`,
    "listen 443 ": `listen 127.0.0.1:${httpsPort} `,
    "/etc/letsencrypt/live/www.example.com/fullchain.pem": pair.TLS_CERT,
    "/etc/letsencrypt/live/www.example.com/privkey.pem": pair.TLS_KEY,
    "root /var/www/leadfile": `root ${folder}/webroot`,
  });
  return nginxWith(site, folder, connections);
}

/** Changes a configuration from a subdomain to www and the bare domain, with the commands of docs/operations.md. */
function withWww(program: "nginx" | "caddy"): string {
  const page = readFileSync(join(deploy, "../docs/operations.md"), "utf8");
  const [, block = ""] = new RegExp(`^\`\`\`sh debian-www proxy=${program}\n([\\s\\S]*?)^\`\`\``, "m").exec(page) ?? [];
  const documented = block.replaceAll("YOUR.DOMAIN", "example.com");
  const changed = join(aFolder(), "changed");
  const commands =
    program === "nginx"
      ? `${documented}cd nginx && cat leadfile.conf leadfile-tls.conf | sed "$www" > ${changed}`
      : documented.replaceAll("/etc/caddy/leadfile.caddy", changed).replaceAll("deploy/", "");
  const ended = Bun.spawnSync(["sh", "-ec", commands], { cwd: deploy });
  if (ended.exitCode !== 0) throw new Error(ended.stderr.toString());
  return readFileSync(changed, "utf8");
}

/** Sets up nginx with a site in a folder, and returns its command. */
export function nginxWith(site: string, folder: string, connections = 512): string[] {
  mkdirSync(join(folder, "temporary"));
  const kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  writeFileSync(
    join(folder, "nginx.conf"),
    `daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log stderr crit;
${process.getuid?.() === 0 ? "user root;" : ""}
events { worker_connections ${connections}; }
http {
  access_log off;
  ${kinds.map((kind) => `${kind}_temp_path ${folder}/temporary/${kind};`).join("\n  ")}
  ${site}
}
`,
  );
  return ["nginx", "-e", "stderr", "-p", folder, "-c", join(folder, "nginx.conf")];
}

function setUpCaddy(
  folder: string,
  { serverPort, receivePort, httpPort, httpsPort }: Ports,
  pair: Certificate,
): string[] {
  const file = (name: string) => readFileSync(join(deploy, name), "utf8");
  mkdirSync(join(folder, "caddy"));
  writeFileSync(join(folder, "caddy/options.caddy"), file("caddy/options.caddy"));
  const tls = `tls ${pair.TLS_CERT} ${pair.TLS_KEY}`;
  const site = replaceAll(withWww("caddy"), {
    "127.0.0.1:3000": `127.0.0.1:${serverPort}`,
    "127.0.0.1:3001": `127.0.0.1:${receivePort}`,
    "https://{$LEADFILE_DOMAIN:www.example.com} {": `https://www.example.com {\n\t${tls}`,
    "https://example.com {": `https://example.com {\n\t${tls}`,
  });
  writeFileSync(join(folder, "caddy/leadfile.caddy"), site);
  const main = replaceAll(file("Caddyfile"), {
    "{\n\tservers {": `{\n\tadmin off\n\tauto_https disable_certs\n\thttp_port ${httpPort}\n\thttps_port ${httpsPort}\n\tservers {`,
    "read_header 10s": "read_header 1s",
  });
  writeFileSync(join(folder, "Caddyfile"), main);
  return ["caddy", "run", "--config", join(folder, "Caddyfile"), "--adapter", "caddyfile"];
}

/** Returns the logs of a proxy once they have this many answers. A log line may follow its answer. */
export async function logsOf(proxy: FrontProxy, method: "GET" | "POST", answers: number): Promise<string> {
  const answered = new RegExp(` ${method} \\d{3} |"method":"${method}".*"status":\\d{3}`, "g");
  // One more was asked for by the start, until it was there.
  await eventually(async () =>
    expect(proxy.logs().match(answered)).toHaveLength(method === "GET" ? answers + 1 : answers),
  );
  return proxy.logs();
}
