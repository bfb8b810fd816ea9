/** Dependencies: pinned, from one registry, without install scripts. */
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../../package.json";
import follow from "../../packages/client/program/package.json";
import conformance from "../../packages/conformance/package.json";
import mcp from "../../packages/mcp/package.json";

const root = join(import.meta.dir, "../..");
const lock = readFileSync(join(root, "bun.lock"), "utf8");

test("every package is pinned to one version", () => {
  const manifests = [manifest, { dependencies: manifest.devDependencies }, follow, conformance, mcp];
  const versions = manifests.flatMap(({ dependencies }) => Object.values(dependencies));
  expect(versions.filter((version) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
});

test("the lock file holds a digest of every package, none of which comes from a link or a repository", () => {
  const entries = [...lock.matchAll(/^ {4}"[^"]+": \["([^"]+)", (.*)\],?$/gm)];
  expect(entries.length).toBeGreaterThan(20);
  expect(entries.filter(([, , rest = ""]) => !/"sha512-[A-Za-z0-9+/]+=*"$/.test(rest)).map(([, name]) => name)).toEqual(
    [],
  );
  expect(entries.filter(([, name = ""]) => /git|http|file:|link:/.test(name.slice(name.lastIndexOf("@"))))).toEqual([]);
});

test("no package has an install script", () => {
  expect(manifest.trustedDependencies).toEqual([]);
});

test("only the listed files start processes or evaluate code", () => {
  const folders = ["src", "extensions", "packages"].filter((folder) => existsSync(join(root, folder)));
  const sources = folders.flatMap((folder) =>
    [...new Bun.Glob("**/*.ts").scanSync(join(root, folder))]
      .filter((name) => !/(^|\/)(node_modules|dist)\//.test(name))
      .map((name) => join(folder, name)),
  );
  const found = sources.filter((name) =>
    /\beval\(|new Function\(|child_process|Bun\.spawn|Bun\.\$/.test(readFileSync(join(root, name), "utf8")),
  );
  const named = [
    "extensions/cluster/command.ts",
    "extensions/delivery/inbox/import-process.ts",
    // It runs when the client is packed, not in the product.
    "packages/client/pack.ts",
    "packages/client/program/receiver.ts",
    "src/server/child-process.ts",
  ];
  expect(found.toSorted()).toEqual(named.filter((name) => folders.some((folder) => name.startsWith(folder))));
});
