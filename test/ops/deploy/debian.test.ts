/** The commands of docs/operations.md for Debian, pasted in their order on a fresh Debian 12 that runs systemd. */
import { expect, test } from "bun:test";
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { generateIdentity, identityToRecipient } from "age-encryption";
import { compile } from "../../../deploy/build.ts";
import { version } from "../../../package.json";
import { blocksOf } from "../../docs/walkthrough.ts";
import { anAdmin } from "../../support/admin.ts";
import { theExecutable } from "../../support/executable.ts";
import { aFolder } from "../../support/folder.ts";
import { missingHere, unless } from "../../support/needing.ts";
import { gateway, serveFolder } from "../../support/object-store.ts";
import { aSharedFolder } from "../../support/run.ts";

const root = join(import.meta.dir, "../../..");
/** Debian 12 with systemd, nginx, Caddy and certbot, as .ci/run makes it with debootstrap. */
const debian = join(homedir(), ".cache/leadfile-tools/debian12");

const missing =
  process.getuid?.() !== 0
    ? "needs root"
    : Bun.which("systemd-nspawn") === null
      ? "needs systemd-nspawn"
      : existsSync(join(debian, "etc/debian_version"))
        ? null
        : "needs a Debian root, which .ci/run makes";

const blocks = [
  ...blocksOf(readFileSync(join(root, "docs/operations.md"), "utf8")),
  ...blocksOf(readFileSync(join(root, "docs/operations-data.md"), "utf8")),
];

/** Two releases as they are downloaded, with a vendor's file next to them. The older one differs in its commit alone. */
function downloadInto(folder: string): void {
  const name = `leadfile-${version}-linux-x64`;
  const pack = (program: string, at: string) => {
    const release = join(at, name);
    mkdirSync(release, { recursive: true });
    cpSync(program, join(release, "leadfile"));
    cpSync(join(root, "deploy"), join(release, "deploy"), { recursive: true });
    writeFileSync(join(release, "export.csv"), "email,identified_at\ndana@example.com,2026-01-31T09:15:00Z\n");
    const commands = `tar -czf ${name}.tar.gz ${name} && rm -r ${name} && sha256sum *.tar.gz > SHA256SUMS`;
    expect(Bun.spawnSync(["sh", "-c", commands], { cwd: at }).exitCode).toBe(0);
  };
  pack(anOlderExecutable(), folder);
  pack(theExecutable(), join(folder, "newer"));
}

let older: string | null = null;

function anOlderExecutable(): string {
  if (older !== null && existsSync(older)) return older;
  older = join(aSharedFolder(), "older");
  compile(older, "0000000");
  return older;
}

/**
 * Boots a copy of Debian, runs a script as root as its last service, and gives what it printed and its status. `kept` is a
 * folder whose contents are in /root.
 */
function runOnDebian(script: string, without: string, kept = aFolder()): { status: string; printed: string } {
  const machine = join(aFolder(), "machine");
  expect(Bun.spawnSync(["cp", "-a", debian, machine]).exitCode).toBe(0);
  // A machine has one proxy; the other one would have its ports.
  rmSync(join(machine, "etc/systemd/system/multi-user.target.wants", `${without}.service`), { force: true });
  downloadInto(join(machine, "root/download"));
  expect(Bun.spawnSync(["cp", "-a", `${kept}/.`, join(machine, "root")]).exitCode).toBe(0);
  const put = (path: string, text: string, mode = 0o644) => {
    writeFileSync(join(machine, path), text);
    chmodSync(join(machine, path), mode);
  };
  // Nobody can prove a domain here: certbot makes a certificate, but only if a file in the webroot is served.
  put(
    "usr/bin/certbot",
    `#!/bin/sh
set -e
while [ $# -gt 0 ]; do
  case $1 in --webroot-path) webroot=$2; shift ;; --domain) domains="$domains $2"; shift ;; --deploy-hook) hook=$2; shift ;; esac
  shift
done
mkdir -p $webroot/.well-known/acme-challenge
echo proof > $webroot/.well-known/acme-challenge/token
for domain in $domains; do
  # A reload takes effect a moment after its command.
  curl --silent --fail --retry 5 --retry-all-errors --resolve $domain:80:127.0.0.1 http://$domain/.well-known/acme-challenge/token | grep -q proof
done
set -- $domains
mkdir -p /etc/letsencrypt/live/$1 && cd /etc/letsencrypt/live/$1
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=$1 -keyout privkey.pem -out fullchain.pem 2>&1
$hook
`,
    0o755,
  );
  put("etc/hosts", "127.0.0.1 localhost\n");
  put("root/pasted.sh", `cd /root/download\nset -e\n${script}\n`);
  put(
    "etc/systemd/system/pasted.service",
    `[Unit]
After=multi-user.target
[Service]
Type=oneshot
Environment=HOME=/root
ExecStart=/bin/sh -c "bash -x /root/pasted.sh > /root/printed 2>&1; echo $? > /root/status; systemctl poweroff --force --force"
`,
  );
  put("etc/systemd/system/pasted.timer", "[Timer]\nOnBootSec=1s\n[Install]\nWantedBy=timers.target\n");
  Bun.spawnSync(["ln", "-sf", "../pasted.timer", join(machine, "etc/systemd/system/timers.target.wants/pasted.timer")]);
  const boot = ["--boot", "--register=no", "--keep-unit", "--private-network", "--quiet", "--console=pipe"];
  Bun.spawnSync(["timeout", "300", "systemd-nspawn", "--directory", machine, ...boot], { stdin: "ignore" });
  const read = (path: string) => (existsSync(join(machine, path)) ? readFileSync(join(machine, path), "utf8") : "");
  const result = { status: read("root/status").trim(), printed: read("root/printed") };
  Bun.spawnSync(["rm", "-rf", machine]);
  return result;
}

/** Another site, which is there before Leadfile, with what a visitor gets of it. */
const otherSites = {
  nginx: `mkdir -p /var/www/shop && echo the shop > /var/www/shop/index.html
printf 'server { listen 80; server_name shop.example.org; root /var/www/shop; }' > /etc/nginx/sites-enabled/shop
systemctl reload nginx`,
  caddy: `printf '\nhttp://shop.example.org {\n\trespond "the shop"\n}\n' >> /etc/caddy/Caddyfile
systemctl reload caddy`,
} as const;
const askShop = `sleep 1
curl --silent --max-time 10 --resolve shop.example.org:80:127.0.0.1 http://shop.example.org/
curl --silent --max-time 10 --head http://127.0.0.1/ | tr -d '\\r' | sed -n 's/^Server: /default site: /p'`;

/** A migration of the newer version. */
const migrate = `BUN_BE_BUN=1 leadfile -e '
  const file = new (require("bun:sqlite").Database)("/var/lib/leadfile/leadfile.db");
  file.run("UPDATE __drizzle_migrations SET created_at = created_at + 1e9");
  file.close();'`;

unless(missing).describe("on a fresh Debian 12", () => {
  test.each(["nginx", "caddy"] as const)(
    "every documented command runs in its order next to another site, with %s as the proxy",
    (proxy) => {
      const other = proxy === "nginx" ? "caddy" : "nginx";
      const documented = blocks.filter(
        ({ info }) => /^sh debian(?:$| )/.test(info) && !info.endsWith(`proxy=${other}`),
      );
      const install = documented.findIndex(({ text }) => text.includes(`apt-get install -y ${proxy}`));
      const texts = documented.map(({ text }) => text);
      const pasted = [
        ...texts.slice(0, install),
        // The package installs and starts before the other site is added.
        otherSites[proxy],
        askShop,
        ...texts.slice(install),
        askShop,
      ];
      // A warning, such as that there is no backup yet, is an answer.
      const script = pasted
        .join("\n")
        .replaceAll("YOUR.DOMAIN", "example.org")
        .replaceAll("leadfile-admin doctor", "leadfile-admin doctor || test $? = 1")
        // No way is configured.
        .replace("leadfile-admin alert test", "$& || test $? = 2")
        .replace(
          /^sh deploy\/install\.sh\n(?=leadfile-admin doctor)/m,
          `# The unpacked new release.
receiver=$(systemctl show -p MainPID --value leadfile-receive)
tar -xzf /root/download/newer/leadfile-*.tar.gz -C /root/download/newer && pushd /root/download/newer/leadfile-*/
$&test "$(systemctl show -p MainPID --value leadfile-receive)" != $receiver
leadfile-admin account create later
popd
`,
        )
        .replace("sh deploy/install.sh --downgrade", `${migrate}\n$&`);
      const served = `
systemctl is-active leadfile leadfile-receive ${proxy}
curl --fail --silent --max-time 10 --retry 10 --retry-connrefused http://127.0.0.1:3000/healthz
curl --silent --max-time 10 -o /dev/null -w 'through the proxy: %{http_code}\\n' --resolve leads.example.org:80:127.0.0.1 http://leads.example.org/docs
leadfile-admin account list
leadfile --version | grep 0000000
test -z "$(leadfile-admin account list | grep later)"
sleep 5; leadfile-admin backup list /var/backups/leadfile
echo 'export IGNORED=1' >> /etc/leadfile.env
(cd / && leadfile-admin account list)
BUN_BE_BUN=1 leadfile -e 'Bun.serve({ port: 9999, fetch: async (r) => (console.log(await r.text()), new Response()) })' > /root/alerts &
echo ALERT_URL=http://127.0.0.1:9999/hooks/secret >> /etc/leadfile.env
sleep 1
systemctl start leadfile-failure@leadfile.service.service
leadfile-admin alert test
cat /root/alerts
leadfile-admin key revoke --help | grep '  leadfile-admin key revoke'
systemctl stop leadfile
leadfile-admin backup /var/lib/leadfile/mine.db
leadfile-admin restore /var/lib/leadfile/mine.db 2>&1 | grep -x '.*systemctl stop leadfile-receive).*'
systemctl start leadfile
curl --fail --silent --max-time 10 --retry 20 --retry-connrefused -o /dev/null http://127.0.0.1:3000/healthz
cp /usr/local/bin/leadfile /usr/local/bin/leadfile.new && mv /usr/local/bin/leadfile.new /usr/local/bin/leadfile
leadfile-admin doctor | grep 'systemctl restart leadfile leadfile-receive'
cd /
sh /root/download/leadfile-*/deploy/install.sh --uninstall
test ! -e /usr/local/bin/leadfile && test -e /var/lib/leadfile/leadfile.db
`;
      const { status, printed } = runOnDebian(script + served, other);
      expect([status, status === "0" ? "" : printed]).toEqual(["0", ""]);
      expect(printed).toMatch(/"status":"ok"/);
      expect(printed).toContain("through the proxy: 308");
      const [unit, tested] = [...printed.matchAll(/^\{"state".*\}$/gm)].map(([text]) => JSON.parse(text));
      expect(unit).toMatchObject({ state: "firing", level: "broken", what: "The unit leadfile.service failed." });
      expect(tested).toMatchObject({ what: expect.stringContaining("test alert") });
      // Twice the same answers: before and after Leadfile is added.
      expect(printed.match(/^the shop/gm)).toHaveLength(2);
      expect(printed).toMatch(/1\. Set BASE_URL[\s\S]*2\. leadfile-admin account create NAME/);
    },
    300_000,
  );
});

const lacking = missing ?? missingHere("versitygw");
unless(lacking)(
  "on a fresh Debian 12, the documented commands restore a lost machine from its object store within five minutes",
  async () => {
    const kept = aFolder();
    mkdirSync(join(kept, "store/acme-backups"), { recursive: true });
    const store = await serveFolder(join(kept, "store"));
    const identity = await generateIdentity();
    const settings = { ...store.environment, BACKUP_RECIPIENT: await identityToRecipient(identity) };
    const admin = anAdmin(["acme"], settings);
    await admin.import("email\ndana@example.com\n", "--pixel", "px");
    const { key } = (await admin.run("key", "create", "acme", "--json")).json;
    expect((await admin.run("backup", "s3://acme-backups/leadfile")).status).toBe(0);
    store.child.kill();

    const lines = Object.entries({ ...settings, BACKUP_TO: "s3://acme-backups/leadfile" });
    const environment = lines.map(([name, value]) => `${name}=${value}\n`).join("");
    const example = readFileSync(join(root, "deploy/leadfile.env"), "utf8");
    writeFileSync(join(kept, "leadfile.env"), example + environment);
    writeFileSync(join(kept, "identity.txt"), `${identity}\n`);
    cpSync(gateway ?? "", join(kept, "versitygw"));
    const { status, printed } = runOnDebian(
      `tar -xzf leadfile-*.tar.gz && cd leadfile-*-linux-x64 && mv /root/leadfile.env /root/identity.txt .
ROOT_ACCESS_KEY=key ROOT_SECRET_KEY='${store.environment.AWS_SECRET_ACCESS_KEY}' /root/versitygw --port ${new URL(store.environment.AWS_ENDPOINT_URL).host} --quiet posix /root/store &
sleep 1; SECONDS=0
${blocks.flatMap(({ info, text }) => (info === "sh lost" ? text : [])).join("\n")}
curl --fail --silent --retry 10 --retry-connrefused --header "Authorization: Bearer ${key}" http://127.0.0.1:3000/api/v1/leads
test $SECONDS -lt 300
`,
      "caddy",
      kept,
    );
    expect([status, status === "0" ? "" : printed]).toEqual(["0", ""]);
    expect(printed).toContain("dana@example.com");
  },
  300_000,
);
