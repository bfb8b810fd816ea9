/** deploy/: the container is built from a file that a linter has nothing against, and is closed but for its data. */
import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { theExecutable } from "../../support/executable.ts";
import { aFolder } from "../../support/folder.ts";
import { needing } from "../../support/needing.ts";
import { start } from "../../support/process.ts";
import { aFreePort } from "../../support/proxy.ts";
import { run } from "./run.ts";

const deploy = join(import.meta.dir, "../../../deploy");

describe("the container", () => {
  const dockerfile = readFileSync(join(deploy, "Dockerfile"), "utf8");

  needing("hadolint")("is built from a Dockerfile that hadolint has nothing against", () => {
    expect(run("hadolint", "--no-color", join(deploy, "Dockerfile"))).toEqual({ status: 0, stdout: "", stderr: "" });
  });

  test("runs as a numbered user that is not root, from an image without a shell, and is asked for its health", () => {
    const last = dockerfile.slice(dockerfile.lastIndexOf("\nFROM "));
    expect(last).toMatch(/^FROM gcr\.io\/distroless\/\S+:nonroot$/m);
    expect(last).toMatch(/^USER [1-9]\d*:[1-9]\d*$/m);
    expect(last).toMatch(/^VOLUME \/data$/m);
    expect(last).toMatch(/^HEALTHCHECK .*\["leadfile", "health"\]$/m);
    expect(last).not.toMatch(/^RUN /m);
  });

  test("is built with the Bun that the project is made for", () => {
    const wanted = /bun@([\d.]+)/.exec(readFileSync(join(deploy, "../.ci/run"), "utf8"))?.[1];
    expect(dockerfile).toContain(`FROM oven/bun:${wanted}-slim AS build`);
  });

  test("is composed so that nothing but its volume can be written", () => {
    const enclosed = { read_only: true, cap_drop: ["ALL"], security_opt: ["no-new-privileges:true"] };
    const compose: unknown = Bun.YAML.parse(readFileSync(join(deploy, "compose.yaml"), "utf8"));
    expect(compose).toMatchObject({
      services: {
        leadfile: {
          build: { context: "..", dockerfile: "deploy/Dockerfile" },
          environment: { TRUST_PROXY: "1" },
          volumes: ["data:/data"],
          ...enclosed,
        },
        receive: { image: "leadfile", command: ["receive"], environment: { TRUST_PROXY: "1" }, ...enclosed },
        inbox: { image: "leadfile", command: ["inbox", "/inbox"], ...enclosed },
        proxy: { depends_on: { leadfile: { condition: "service_healthy" } } },
      },
      volumes: { data: null },
    });
    expect(compose).not.toHaveProperty("services.leadfile.ports");
  });

  needing(
    "root",
    "unshare",
    "chroot",
    "mount",
    "ldd",
  )("needs the C library alone, and no root to write in", async () => {
    const { root, box } = anImage();
    const PORT = String(await aFreePort());
    const inside = ["unshare", "--mount", "sh", box, root, PORT, "/usr/local/bin/leadfile"];
    const server = start({}, aFolder(), [...inside, "serve"]);
    expect(await server.listening()).toBe(`http://0.0.0.0:${PORT}`);
    expect(run(...inside, "health")).toEqual({ status: 0, stdout: "", stderr: "" });
    expect(run(...inside, "account", "create", "acme").stdout).toMatch(/^acc_/);
    expect(await server.end("SIGTERM")).toBe(0);
    expect(run(...inside, "health")).toMatchObject({ status: 1, stderr: expect.stringContaining("leadfile serve") });
    expect(readdirSync(root).toSorted()).toEqual(["data", "dev", "lib", "lib64", "proc", "usr"]);
    expect(statSync(join(root, "data/leadfile.db")).uid).toBe(65_532);
  });
});

/** A root like that of the image: the executable, the C library, and a folder of data for the user. */
function anImage(): { root: string; box: string } {
  const root = aFolder();
  for (const folder of ["usr/local/bin", "data", "proc", "dev"]) mkdirSync(join(root, folder), { recursive: true });
  copyFileSync(theExecutable(), join(root, "usr/local/bin/leadfile"));
  for (const [, library = ""] of run("ldd", theExecutable()).stdout.matchAll(/(\/\S+) \(0x/g)) {
    mkdirSync(join(root, library, ".."), { recursive: true });
    copyFileSync(library, join(root, library));
  }
  // Whoever opened a database in this process made its mask that of a private one.
  run("chmod", "-R", "755", root);
  chmodSync(join(root, "data"), 0o700);
  chownSync(join(root, "data"), 65_532, 65_532);
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
