/**
 * Builds the downloads of a release from the checked-out commit: `bun run release [--only linux-x64] [--out DIR]`.
 * Each archive has the executable, the license, the guide, and deploy/. SHA256SUMS and an SBOM (CycloneDX) go with them.
 * Two runs give the same bytes: everything is built in one fixed folder from the commit alone.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { version } from "../package.json";
import { checkedOutCommit, compile, git } from "./build.ts";
import { createSbom } from "./sbom.ts";

/** The platforms of a release with their targets in Bun. `baseline` runs on processors without AVX2, too. */
const platforms: Readonly<Record<string, string>> = {
  "linux-x64": "bun-linux-x64-baseline",
  "linux-x64-musl": "bun-linux-x64-musl-baseline",
  "linux-arm64": "bun-linux-arm64",
  "macos-arm64": "bun-darwin-arm64",
  "macos-x64": "bun-darwin-x64",
  "windows-x64": "bun-windows-x64",
};

const { only, out } = parseArgs({
  options: { only: { type: "string", multiple: true }, out: { type: "string" } },
}).values;
const commit = checkedOutCommit();
const wanted = only ?? Object.keys(platforms);
const unknown = wanted.filter((name) => platforms[name] === undefined);
if (unknown.length > 0) refuse(`No platform ${unknown.join(", ")}. There are ${Object.keys(platforms).join(", ")}.`);
if (commit.endsWith("+")) refuse("The checkout has changes. Commit or stash them: a release is built from a commit.");

const target = resolve(out ?? "dist/release");
const checkout = cleanCheckout();
// One time for all files: that of the commit.
const time = `@${git("show", "--no-patch", "--format=%ct", "HEAD")}`;
rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
for (const name of wanted) pack(name, platforms[name] ?? "");
const sbom = createSbom(readFileSync(join(checkout, "bun.lock"), "utf8"), version, commit);
writeFileSync(join(target, `leadfile-${version}.cdx.json`), `${JSON.stringify(sbom, null, 2)}\n`);
writeFileSync(join(target, "SHA256SUMS"), readdirSync(target).toSorted().map(sumLine).join(""));
rmSync(checkout, { recursive: true });

function refuse(why: string): never {
  process.stderr.write(`${why}\n`);
  process.exit(1);
}

/** The commit alone with its packages, always at the same path: the compiler writes paths into the executable. */
function cleanCheckout(): string {
  const folder = "/tmp/leadfile-release";
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  git("--work-tree", folder, "checkout-index", "--all", "--force", `--prefix=${folder}/`);
  run(folder, process.execPath, "install", "--frozen-lockfile", "--silent");
  return folder;
}

/** Compiles for one platform and packs the archive. */
function pack(platform: string, bunTarget: string): void {
  const name = `leadfile-${version}-${platform}`;
  const folder = join(checkout, "dist", name);
  mkdirSync(folder, { recursive: true });
  compile(join(folder, "leadfile"), commit, bunTarget, checkout);
  run(checkout, "cp", "-r", "LICENSE", "README.md", "CHANGELOG.md", "deploy", folder);
  for (const script of new Bun.Glob("*.ts").scanSync(join(folder, "deploy"))) rmSync(join(folder, "deploy", script));
  const archive = join(target, `${name}.tar.gz`);
  const order = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", `--mtime=${time}`, "--mode=go-w"];
  run(
    join(checkout, "dist"),
    "tar",
    ...order,
    "--use-compress-program=gzip -9n",
    "--create",
    `--file=${archive}`,
    name,
  );
  process.stdout.write(`${basename(archive)}  ${Math.round(statSync(archive).size / 1e6)} MB\n`);
}

/** A line of SHA256SUMS, as `sha256sum --check` reads it. */
function sumLine(file: string): string {
  const digest = new Bun.CryptoHasher("sha256").update(readFileSync(join(target, file))).digest("hex");
  return `${digest}  ${file}\n`;
}

function run(cwd: string, ...command: string[]): void {
  const ended = Bun.spawnSync(command, { cwd });
  if (ended.exitCode !== 0) refuse(`${command.join(" ")} failed: ${ended.stderr}`);
}
