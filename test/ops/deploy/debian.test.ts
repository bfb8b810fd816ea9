/** The commands of docs/operations.md for Debian, pasted in their order on a fresh Debian 12 that runs systemd. */
import { expect, test } from "bun:test";
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { generateIdentity, identityToRecipient } from "age-encryption";
import { version } from "../../../package.json";
import { blocksOf } from "../../docs/walkthrough.ts";
import { anAdmin } from "../../support/admin.ts";
import { theExecutable } from "../../support/executable.ts";
import { aFolder } from "../../support/folder.ts";
import { missingHere, unless } from "../../support/needing.ts";
import { gateway, serveFolder } from "../../support/object-store.ts";

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

/** A release as it is downloaded, with a vendor's file beside it. */
function downloadInto(folder: string): void {
  const name = `leadfile-${version}-linux-x64`;
  const release = join(folder, name);
  mkdirSync(release, { recursive: true });
  cpSync(theExecutable(), join(release, "leadfile"));
  cpSync(join(root, "deploy"), join(release, "deploy"), { recursive: true });
  writeFileSync(join(release, "export.csv"), "email,identified_at\ndana@example.com,2026-01-31T09:15:00Z\n");
  const pack = `tar -czf ${name}.tar.gz ${name} && rm -r ${name} && sha256sum *.tar.gz > SHA256SUMS`;
  expect(Bun.spawnSync(["sh", "-c", pack], { cwd: folder }).exitCode).toBe(0);
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
  // Nobody can prove a domain here: certbot gives a certificate of its own.
  put(
    "usr/bin/certbot",
    `#!/bin/sh
set -e
systemctl stop nginx
mkdir -p /etc/letsencrypt/live/www.example.org && cd /etc/letsencrypt/live/www.example.org
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=www.example.org -keyout privkey.pem -out fullchain.pem
systemctl start nginx
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

const upgradeToANewerVersion = `BUN_BE_BUN=1 leadfile -e '
  const file = new (require("bun:sqlite").Database)("/var/lib/leadfile/leadfile.db");
  file.run("UPDATE __drizzle_migrations SET created_at = created_at + 1e9");
  file.close();'`;

unless(missing).describe("on a fresh Debian 12", () => {
  test.each(["nginx", "caddy"])(
    "every documented command runs in its order, with %s as the proxy",
    (proxy) => {
      const other = proxy === "nginx" ? "caddy" : "nginx";
      const documented = blocks.filter(({ info }) => info.startsWith("sh debian") && !info.endsWith(`proxy=${other}`));
      const pasted = documented.map(({ text }) => text);
      // A warning, such as that there is no backup yet, is an answer.
      const script = pasted
        .join("\n")
        .replaceAll("YOUR.DOMAIN", "example.org")
        .replaceAll("leadfile-admin doctor", "leadfile-admin doctor || test $? = 1")
        .replace("sh deploy/install.sh --no-start", `${upgradeToANewerVersion}\n$&`);
      const served = `
systemctl is-active leadfile ${proxy}
curl --fail --silent --max-time 10 --retry 10 --retry-connrefused http://127.0.0.1:3000/healthz
curl --silent --max-time 10 -o /dev/null -w 'through the proxy: %{http_code}\\n' --resolve www.example.org:80:127.0.0.1 http://www.example.org/docs
leadfile-admin account list
sleep 5; leadfile-admin backup list /var/backups/leadfile
echo 'export IGNORED=1' >> /etc/leadfile.env
(cd / && leadfile-admin account list)
printf '#!/bin/sh\necho "$@"\n' > /usr/local/bin/curl && chmod 755 /usr/local/bin/curl
echo ALERT_URL=http://127.0.0.1:9/hooks >> /etc/leadfile.env
systemctl start leadfile-failure@leadfile.service.service
journalctl --unit leadfile-failure@leadfile.service.service --output cat
rm /usr/local/bin/curl && mv /usr/bin/curl /root && sh deploy/install.sh --no-start && mv /root/curl /usr/bin
cd /
sh /root/download/leadfile-*/deploy/install.sh --uninstall
test ! -e /usr/local/bin/leadfile && test -e /var/lib/leadfile/leadfile.db
`;
      const { status, printed } = runOnDebian(script + served, other);
      expect([status, status === "0" ? "" : printed]).toEqual(["0", ""]);
      expect(printed).toMatch(/"status":"ok"/);
      expect(printed).toContain("through the proxy: 308");
      const [, alert = ""] = /^.* -d (\{.+\}) http:\/\/127\.0\.0\.1:9\/hooks$/m.exec(printed) ?? [];
      const [what, advice] = ["The unit leadfile.service failed.", "See journalctl -u leadfile.service."];
      const [since, text] = [expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]+Z$/), `${what} ${advice}`];
      expect(JSON.parse(alert)).toEqual({ state: "firing", level: "broken", what, advice, since, text });
      expect(printed).toContain("Run: apt-get install curl");
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
