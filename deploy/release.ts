/**
 * Builds the downloads of a release from the checked-out commit:
 *   bun run release [--only linux-x64] [--out DIR] [--sign-key FILE]
 * Each archive contains the executable, licenses, documentation, examples, and deploy/. SHA256SUMS and an SBOM (CycloneDX)
 * are next to the archives. Two runs give the same bytes: everything is built in one fixed folder from the commit alone.
 * --sign-key is the SSH key, in a file or in an agent, whose public key is in SECURITY.md.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { version } from "../package.json";
import { checkedOutCommit, compile, git } from "./build.ts";
import { createSbom, licensesText, packagesIn } from "./sbom.ts";

/** The platforms of a release with their targets in Bun. `baseline` runs on processors without AVX2, too. */
const platforms: Readonly<Record<string, string>> = {
  "linux-x64": "bun-linux-x64-baseline",
  "linux-x64-musl": "bun-linux-x64-musl-baseline",
  "linux-arm64": "bun-linux-arm64",
  "macos-arm64": "bun-darwin-arm64",
  "macos-x64": "bun-darwin-x64",
  "windows-x64": "bun-windows-x64",
};

/** The files and folders in an archive, next to the executable and the files to which they link. */
const contents = [
  ...["LICENSE", "THIRD_PARTY", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"],
  ...["docs", "examples", "connectors", "deploy"],
];

const {
  only,
  out,
  "sign-key": signKey,
} = parseArgs({
  options: { only: { type: "string", multiple: true }, out: { type: "string" }, "sign-key": { type: "string" } },
}).values;
const commit = checkedOutCommit();
const wanted = only ?? Object.keys(platforms);
const unknown = wanted.filter((name) => platforms[name] === undefined);
if (unknown.length > 0) refuse(`No platform ${unknown.join(", ")}. There are ${Object.keys(platforms).join(", ")}.`);
if (commit.endsWith("+")) refuse("The checkout has changes. Commit or stash them: a release is built from a commit.");

if (signKey !== undefined) checkKey(signKey);
const target = resolve(out ?? "dist/release");
const checkout = cleanCheckout();
// One time for all files: that of the commit.
const time = `@${git("show", "--no-patch", "--format=%ct", "HEAD")}`;
rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
const packages = packagesIn(checkout);
writeFileSync(join(checkout, "THIRD_PARTY"), licensesText(packages));
for (const name of wanted) pack(name, platforms[name] ?? "");
const sbom = createSbom(packages, version, commit);
writeFileSync(join(target, `leadfile-${version}.cdx.json`), `${JSON.stringify(sbom, null, 2)}\n`);
writeFileSync(join(target, "SHA256SUMS"), readdirSync(target).toSorted().map(sumLine).join(""));
if (signKey === undefined) process.stdout.write("SHA256SUMS is not signed. To sign it, pass --sign-key FILE.\n");
else run(target, "ssh-keygen", "-Y", "sign", "-q", "-f", resolve(signKey), "-n", "leadfile", "SHA256SUMS");
rmSync(checkout, { recursive: true });

function refuse(why: string): never {
  process.stderr.write(`${why}\n`);
  process.exit(1);
}

/** Ends unless SECURITY.md documents the public key of a private one. */
function checkKey(file: string): void {
  const publicKey = existsSync(`${file}.pub`)
    ? readFileSync(`${file}.pub`, "utf8")
    : Bun.spawnSync(["ssh-keygen", "-y", "-f", file]).stdout.toString();
  const [kind = "", key = ""] = publicKey.split(" ");
  const documented = readFileSync(join(import.meta.dir, "../SECURITY.md"), "utf8");
  if (key !== "" && documented.includes(`${kind} ${key.trim()}`)) return;
  refuse(`${file} is not the release key in SECURITY.md. Pass that key, or replace the line there.`);
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
  run(checkout, "cp", "-r", ...contents, folder);
  for (const script of new Bun.Glob("{deploy,docs}/*.ts").scanSync(folder)) rmSync(join(folder, script));
  copyLinked(folder);
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

/** Copies the files of the project to which pages in a folder link, such as samples of vendors' files. */
function copyLinked(folder: string): void {
  for (const page of new Bun.Glob("**/*.md").scanSync(folder)) {
    const links = readFileSync(join(folder, page), "utf8").matchAll(/\]\((?!https?:|#)([^)#\s]+)/g);
    for (const [, link = ""] of links) {
      const path = join(page, "..", link);
      if (!existsSync(join(folder, path))) cpSync(join(checkout, path), join(folder, path), { recursive: true });
    }
  }
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
