/** The packages inside the executable: their software bill of materials (CycloneDX 1.6), and their licenses. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { entryFiles } from "./build.ts";

/** A package of which at least one file is in the executable. */
interface ContainedPackage {
  readonly name: string;
  readonly version: string;
  /** The SPDX expression of its package.json. */
  readonly license: string;
  /** The SHA-512 of its archive in the registry, in hexadecimal. */
  readonly sha512: string;
  /** The text of each license and notice in its folder. */
  readonly texts: readonly string[];
}

/** Returns the packages inside the executable that the compiler makes of some sources, in the order of their names. */
export function packagesIn(sources: string): ContainedPackage[] {
  const digests = digestsIn(readFileSync(join(sources, "bun.lock"), "utf8"));
  const folders = new Set(filesIn(sources).flatMap((file) => packageFolderOf(file) ?? []));
  const packages = [...folders].map((folder) => describePackage(join(sources, folder), digests));
  // The same version may be installed in several places.
  const byName = new Map(packages.map((one) => [`${one.name}@${one.version}`, one]));
  return [...byName.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** Returns the paths of all files that the compiler puts into the executable. */
function filesIn(sources: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), "leadfile-contents-"));
  try {
    const metafile = join(folder, "meta.json");
    const build = ["build", "--target=bun", `--outdir=${join(folder, "out")}`, `--metafile=${metafile}`];
    const made = Bun.spawnSync([process.execPath, ...build, ...entryFiles(sources)], { cwd: sources });
    if (made.exitCode !== 0) throw new Error(`bun build ended with ${made.exitCode}: ${made.stderr}`);
    const { inputs }: { inputs: object } = JSON.parse(readFileSync(metafile, "utf8"));
    return Object.keys(inputs);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns the folder of the package to which a file belongs; null for a file of the project. */
function packageFolderOf(file: string): string | null {
  return /^.*\bnode_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? null;
}

function describePackage(folder: string, digests: ReadonlyMap<string, string>): ContainedPackage {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const files = readdirSync(folder).filter((file) => /licen[cs]e|notice|copying/i.test(file));
  const texts = files.toSorted().map((file) => readFileSync(join(folder, file), "utf8").trim());
  return { name, version, license, sha512: digests.get(`${name}@${version}`) ?? "", texts };
}

/** Reads the digests of a lockfile, by name and version. */
function digestsIn(lockfile: string): Map<string, string> {
  const { packages }: { packages: Record<string, unknown[]> } = Bun.JSONC.parse(lockfile) as never; // bun.lock has this shape.
  const entries = Object.values(packages).map(([id, , , integrity]) => {
    const digest = /^sha512-(.+)$/.exec(String(integrity))?.[1] ?? "";
    return [String(id), Buffer.from(digest, "base64").toString("hex")] as const;
  });
  return new Map(entries);
}

/** Makes the bill of materials of a release. */
export function createSbom(packages: readonly ContainedPackage[], version: string, commit: string) {
  const ref = `pkg:generic/leadfile@${version}`;
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: {
        type: "application",
        name: "leadfile",
        version,
        "bom-ref": ref,
        purl: ref,
        licenses: [{ license: { id: "MIT" } }],
        properties: [{ name: "leadfile:commit", value: commit }],
      },
    },
    components: [
      {
        type: "platform",
        name: "bun",
        version: Bun.version,
        "bom-ref": `pkg:npm/bun@${Bun.version}`,
        licenses: [{ license: { id: "MIT" } }],
      },
      ...packages.map(({ name, version: installed, license, sha512 }) => {
        const purl = `pkg:npm/${name.replace(/^@/, "%40")}@${installed}`;
        const licenses = [{ expression: license }];
        const hashes = sha512 === "" ? [] : [{ alg: "SHA-512", content: sha512 }];
        return { type: "library", name, version: installed, "bom-ref": purl, purl, licenses, hashes };
      }),
    ],
  };
}

/** Makes the text of THIRD_PARTY: the licenses of everything inside the executable. */
export function licensesText(packages: readonly ContainedPackage[]): string {
  const rule = `${"-".repeat(78)}\n`;
  const sections = packages.map(({ name, version, license, texts }) => {
    const title = `${name} ${version} (${license})\n`;
    if (texts.length > 0) return `${title}\n${texts.join("\n\n")}\n`;
    const same = packages.find((other) => other.license === license && other.texts.length > 0);
    if (same === undefined) throw new Error(`${name} has no license text, and no other package has ${license}`);
    return `${title}\nIts package contains no license text. The text of ${license} is under ${same.name}.\n`;
  });
  return `The Leadfile executable contains the following software.\n\n${[bunNotice, ...sections].join(`\n${rule}\n`)}`;
}

const bunNotice = `bun ${Bun.version} (MIT)

The runtime, https://github.com/oven-sh/bun. It links JavaScriptCore and parts of WebKit (LGPL-2.1) statically; their
source, and the licenses of the other libraries inside Bun, are listed at https://bun.com/docs/project/license. To link
the executable with a changed JavaScriptCore, build that Bun, and run \`bun run build\` with it.
`;
