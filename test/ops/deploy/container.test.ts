/** deploy/: the image is built by its Containerfile, and nothing but its volume can be written. */
import { describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { theExecutable } from "../../support/executable.ts";
import { aFolder } from "../../support/folder.ts";
import { aFreePort } from "../../support/free-port.ts";
import { needing } from "../../support/needing.ts";
import { runNow, start } from "../../support/process.ts";

const deploy = join(import.meta.dir, "../../../deploy");

describe("the container", () => {
  const containerfile = readFileSync(join(deploy, "Containerfile"), "utf8");

  needing("hadolint")("is built from a Containerfile that hadolint accepts", () => {
    expect(runNow("hadolint", "--no-color", join(deploy, "Containerfile"))).toEqual({
      status: 0,
      stdout: "",
      stderr: "",
    });
  });

  test("runs as a numbered user that is not root, from an image without a shell, and has a health check", () => {
    expect(containerfile).toMatch(/^ARG BASE=gcr\.io\/distroless\/\S+:nonroot@sha256:[0-9a-f]{64}$/m);
    expect(containerfile).toMatch(/^USER [1-9]\d*:[1-9]\d*$/m);
    expect(containerfile).toMatch(/^VOLUME \/data$/m);
    expect(containerfile).toMatch(/^HEALTHCHECK .*\["leadfile", "health"\]$/m);
    expect(containerfile).not.toMatch(/^RUN /m);
  });

  test("compose makes only its volumes writable, and backs up every night", () => {
    const enclosed = { read_only: true, cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] };
    const compose: unknown = Bun.YAML.parse(readFileSync(join(deploy, "compose.yaml"), "utf8"));
    expect(compose).toMatchObject({
      services: {
        leadfile: {
          build: { context: "..", dockerfile: "deploy/Containerfile" },
          environment: { TRUST_PROXY: "1", BACKUP_TO: "/data/backups", INBOX: "/data/inbox" },
          volumes: expect.arrayContaining(["data:/data", "backups:/data/backups"]),
          healthcheck: { test: ["CMD", "leadfile", "health"] },
          ...enclosed,
        },
        receive: { image: "leadfile", command: ["receive"], environment: { TRUST_PROXY: "1" }, ...enclosed },
        proxy: {
          image: expect.stringMatching(/^docker\.io\/library\/caddy:2\S*@sha256:[0-9a-f]{64}$/),
          environment: { LEADFILE_SERVER: "leadfile:3000", LEADFILE_RECEIVE: "receive:3001" },
          depends_on: { leadfile: { condition: "service_healthy" } },
        },
      },
      volumes: { data: null, backups: null, inbox: null },
    });
    expect(compose).not.toHaveProperty("services.leadfile.ports");
  });

  const building = needing("buildah", "root", "unshare", "ldd");
  building("serves from a read-only root that holds the executable and the C library alone", async () => {
    const { root, box } = anImage();
    const PORT = String(await aFreePort());
    const inside = ["unshare", "--mount", "sh", box, root, PORT, "/usr/local/bin/leadfile"];
    const server = start({}, aFolder(), [...inside, "serve"]);
    expect(await server.listening()).toBe(`http://0.0.0.0:${PORT}`);
    expect(runNow(...inside, "health")).toEqual({ status: 0, stdout: "", stderr: "" });
    expect(runNow(...inside, "account", "create", "acme").stdout).toMatch(/^acc_/);
    expect(await server.end("SIGTERM")).toBe(0);
    expect(runNow(...inside, "health")).toMatchObject({ status: 1, stderr: expect.stringContaining("leadfile serve") });
    expect(statSync(join(root, "data/leadfile.db")).uid).toBe(65_532);
  });
});

/** Builds the image as an unpacked release does, on a base of the C library of this machine, and mounts it. */
function anImage(): { root: string; box: string } {
  const store = aFolder();
  const release = aFolder();
  cpSync(theExecutable(), join(release, "leadfile"));
  cpSync(deploy, join(release, "deploy"), { recursive: true });
  const buildah = (...words: string[]) => {
    const storage = ["--root", join(store, "root"), "--runroot", join(store, "run"), "--storage-driver", "vfs"];
    const ended = runNow("buildah", ...storage, ...words);
    if (ended.status !== 0) throw new Error(`buildah ${words[0]} failed: ${ended.stderr}`);
    return ended.stdout.trim();
  };
  const base = buildah("from", "scratch");
  const libraries = [...runNow("ldd", theExecutable()).stdout.matchAll(/(\/\S+) \(0x/g)].map(
    ([, library = ""]) => library,
  );
  for (const library of libraries) buildah("copy", base, library, library);
  buildah("commit", base, "localhost/glibc");
  // The options of podman that the page documents: buildah is its builder.
  const build = ["build", "--format", "docker", "--isolation", "chroot", "--build-arg", "BASE=localhost/glibc"];
  buildah(...build, "--file", join(release, "deploy/Containerfile"), "--tag", "leadfile", release);
  const { Docker } = JSON.parse(buildah("inspect", "--type", "image", "localhost/leadfile"));
  expect(Docker.config.Healthcheck.Test).toEqual(["CMD", "leadfile", "health"]);
  const root = buildah("mount", buildah("from", "localhost/leadfile"));
  for (const folder of ["proc", "dev"]) mkdirSync(join(root, folder), { recursive: true });
  const box = join(aFolder(), "box.sh");
  writeFileSync(
    box,
    `set -e
root=$1; port=$2; shift 2
mount --bind "$root" "$root"
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --bind "$root/data" "$root/data"
mount -o remount,bind,ro "$root"
chroot=$(command -v chroot)
exec env -i HOST=0.0.0.0 TRUST_PROXY=1 PORT="$port" DATABASE_PATH=/data/leadfile.db \\
  "$chroot" --userspec=65532:65532 "$root" "$@"
`,
  );
  return { root, box };
}
