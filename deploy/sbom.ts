/** The software bill of materials of a release (CycloneDX 1.6): every package that the executable can contain. */

/** An entry of bun.lock: name@version, registry, what it needs, and its digest. */
type LockedPackage = readonly [id: string, registry?: string, needs?: Needs, integrity?: string];

interface Needs {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface Lockfile {
  readonly workspaces: Readonly<Record<string, Needs>>;
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

/** Lists the packages that the product needs, with those that they need. What only its tests need is not in it. */
export function createSbom(lockfile: string, version: string, commit: string) {
  const { workspaces, packages }: Lockfile = Bun.JSONC.parse(lockfile) as Lockfile; // bun.lock has this shape.
  // The same version may be locked in several places.
  const described = [...reachable(workspaces, packages)].toSorted().map((place) => describe(packages[place]));
  const components = new Map(described.map((component) => [component.purl, component])).values();
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
      { type: "platform", name: "bun", version: Bun.version, "bom-ref": `pkg:npm/bun@${Bun.version}` },
      ...components,
    ],
  };
}

/** The places in the lockfile of all packages that can be reached from the workspaces. */
function reachable(workspaces: Lockfile["workspaces"], packages: Lockfile["packages"]): Set<string> {
  const found = new Set<string>();
  const open = Object.values(workspaces).flatMap((needs) => namesIn(needs).map((name) => ({ from: "", name })));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const place = placeOf(next.from, next.name, packages);
    if (place === null || found.has(place)) continue;
    found.add(place);
    open.push(...namesIn(packages[place]?.[2] ?? {}).map((name) => ({ from: place, name })));
  }
  return found;
}

function namesIn({ dependencies = {}, optionalDependencies = {} }: Needs): string[] {
  return [...Object.keys(dependencies), ...Object.keys(optionalDependencies)];
}

/** The place of a package as another one sees it: a version of its own is locked below the place of that one. */
function placeOf(from: string, name: string, packages: Lockfile["packages"]): string | null {
  for (let parent = from; parent !== ""; parent = parent.slice(0, Math.max(0, parent.lastIndexOf("/")))) {
    if (packages[`${parent}/${name}`] !== undefined) return `${parent}/${name}`;
  }
  return packages[name] === undefined ? null : name;
}

function describe(locked: LockedPackage | undefined) {
  const [id = "", , , integrity = ""] = locked ?? [];
  const at = id.lastIndexOf("@");
  const [name, version] = [id.slice(0, at), id.slice(at + 1)];
  const purl = `pkg:npm/${name.replace(/^@/, "%40")}@${version}`;
  const digest = /^sha512-(.+)$/.exec(integrity)?.[1];
  const hashes =
    digest === undefined ? [] : [{ alg: "SHA-512", content: Buffer.from(digest, "base64").toString("hex") }];
  return { type: "library", name, version, "bom-ref": purl, purl, hashes };
}
