/** The client as it is published: what is in the package, where it runs, and that each program of its guide does. */
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { pack, servedPackage } from "../../../packages/client/pack.ts";
import * as client from "../../../packages/client/src/leadfile.ts";
import { look } from "../../docs/browser.ts";
import { aBusyServer, aLineForEachLead, clientPrograms, run } from "../../docs/programs.ts";
import { blocksOf } from "../../docs/walkthrough.ts";
import { answering } from "../../support/answering.ts";
import { someLeads } from "../../support/builders.ts";
import { aFolder } from "../../support/folder.ts";
import { serve } from "../../support/harness.ts";
import { needing } from "../../support/needing.ts";
import { start } from "../../support/process.ts";
import { aSharedFolder } from "../../support/run.ts";

const root = join(import.meta.dir, "../../..");
const guide = readFileSync(join(root, "docs/client.md"), "utf8");

let tarball: string | null = null;

/** Packs the client once, as `npm pack` does it for publishing. Returns the path of the package. */
async function packed(): Promise<string> {
  return (tarball ??= await pack(aSharedFolder()));
}

/** Unpacks the package as an installation does, into a new folder. Returns it with the place of the package. */
async function install(parent?: string) {
  const folder = aFolder(parent);
  const place = join(folder, "node_modules/@leadfile/client");
  await Bun.$`mkdir -p ${place} && tar -xzf ${await packed()} -C ${place} --strip-components=1`.quiet();
  return { folder, place };
}

const publishing = needing("npm", "tar");

publishing("the package holds the code with its types, the guide and the licence, and depends on nothing", async () => {
  const { place } = await install();
  const files = [...new Bun.Glob("**/*").scanSync(place)].toSorted();
  expect(files.filter((file) => !/^dist\/[a-z-]+\.(?:js|cjs|d\.ts|d\.cts)$/.test(file))).toEqual([
    "LICENSE",
    "README.md",
    "package.json",
  ]);
  expect(readFileSync(join(place, "package.json"), "utf8")).not.toContain("ependencies");
  for (const file of files.filter((name) => name.endsWith(".js"))) {
    const imported = [...readFileSync(join(place, file), "utf8").matchAll(/ from "([^"]+)"/g)].map(([, from]) => from);
    const isFollow = file === "dist/leadfile-follow.js";
    const isAllowed = (from = "") =>
      from.startsWith(".") || from === "node:fs/promises" || (isFollow && (isBuiltin(from) || from === "bun:sqlite"));
    expect(imported.filter((from) => !isAllowed(from))).toEqual([]);
  }
});

/** The files of a package, by name. */
async function filesIn(tarball: string): Promise<Record<string, string>> {
  const folder = aFolder();
  await Bun.$`tar -xzf ${tarball} -C ${folder}`.quiet();
  const names = [...new Bun.Glob("**/*").scanSync(folder)].toSorted();
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}

publishing("the package that servers have is this one (otherwise: bun run pack)", async () => {
  expect(await filesIn(servedPackage)).toEqual(await filesIn(await packed()));
});

publishing("no link in the package leads nowhere", async () => {
  for (const [name, text] of Object.entries(await filesIn(await packed()))) {
    const links = name.endsWith(".md") ? [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => target) : [];
    expect([name, links.filter((target) => !target?.startsWith("https://"))]).toEqual([name, []]);
    const files = name.endsWith(".md") ? text.match(/\b(?:examples|docs|connectors|packages)\/[\w-]+\.\w+/g) : [];
    expect([name, [...new Set(files)].filter((file) => file !== "docs/client.tgz")]).toEqual([name, []]);
  }
});

publishing("publint finds nothing to say", async () => {
  const { place } = await install();
  const { messages } = await publint({ pkgDir: place, strict: true, pack: false });
  expect(messages).toEqual([]);
});

publishing("the types are found wherever modules are", async () => {
  const checked = await checkPackage(createPackageFromTarballData(readFileSync(await packed())));
  const problems = "problems" in checked ? checked.problems : [{ kind: "no types at all" }];
  const places = problems.map((problem) => `${problem.kind} ${"resolutionKind" in problem && problem.resolutionKind}`);
  // Resolvers that are older than exports find nothing.
  expect([...new Set(places)]).toEqual(["NoResolution node10"]);
});

const body = `
const [baseUrl, key, path] = (globalThis.Deno?.args ?? process.argv.slice(2));
const leadfile = new Leadfile({ baseUrl, key });
const all = [];
for await (const lead of leadfile.leads.all({ pageSize: 2 })) all.push(lead.id);
const stop = new AbortController();
const followed = [];
for await (const lead of leadfile.leads.follow({ checkpoint: fileCheckpoint(path), signal: stop.signal })) {
  followed.push(lead.id);
  if (followed.length === all.length) stop.abort();
}
const error = await leadfile.leads.list({ before: "soon" }).catch((thrown) => thrown);
const { requests_today } = await leadfile.usage.get();
const refused = error instanceof InvalidCursorError;
console.log(JSON.stringify({ all, followed, refused, requests_today, pixels: await leadfile.pixels.list() }));
`;
const modules = `import { Leadfile, InvalidCursorError } from "@leadfile/client";
import { fileCheckpoint } from "@leadfile/client/file";
${body}`;
const commonJs = `const { Leadfile, InvalidCursorError } = require("@leadfile/client");
const { fileCheckpoint } = require("@leadfile/client/file");
(async () => {${body}})();`;

/** Runs the program in some runtime, on the package as it is published. */
async function runIn(command: readonly string[], name = "program.mjs", program = modules): Promise<void> {
  const leads = someLeads(5);
  const { url, aKey } = await serve({ leads });
  // Deno guards all of /dev, where the temporary folder may be.
  const { folder } = await install("/tmp");
  writeFileSync(join(folder, name), program);
  writeFileSync(join(folder, "package.json"), '{"dependencies":{"@leadfile/client":"*"}}');
  const running = start({ NO_COLOR: "1" }, folder, [...command, name, url, aKey(), "checkpoint.json"]);
  expect([await running.exited, running.errors()]).toEqual([0, ""]);
  const ids = leads.map(({ id }) => id);
  expect(JSON.parse(running.output())).toEqual({
    all: ids.toReversed(),
    followed: ids,
    refused: true,
    requests_today: 6,
    pixels: [{ id: "px_site", status: "active" }],
  });
}

needing("npm", "node")("it runs in Node", () => runIn(["node"]));

needing("npm", "node")("CommonJS requires it in Node", () => runIn(["node"], "program.cjs", commonJs));

needing("npm", "deno")("it runs in Deno, with the network and one folder", () =>
  runIn([
    "deno",
    "run",
    "--no-prompt",
    "--node-modules-dir=manual",
    "--allow-net=127.0.0.1",
    "--allow-read=.",
    "--allow-write=.",
  ]),
);

publishing("it runs in Bun", () => runIn([process.execPath]));

needing("npm", "chromium")(
  "it refuses to run in a browser, in a page and in a worker, unless it is told to",
  async () => {
    const { place } = await install();
    const site = answering((request) => {
      const { pathname } = new URL(request.url);
      if (pathname === "/") return new Response(html, { headers: { "Content-Type": "text/html" } });
      if (pathname === "/worker.js") return new Response(`${attempt} postMessage(tried);`, { headers: script });
      if (!pathname.endsWith(".js")) return new Response("", { status: 404 });
      return new Response(Bun.file(join(place, "dist", pathname)), { headers: script });
    });
    const { page } = await look(`${site}/`);
    await page.getByText("worker: ").waitFor();
    expect(await page.locator("p").allTextContents()).toEqual(["page: refused made", "worker: refused made"]);
  },
);

const script = { "Content-Type": "text/javascript" };

const attempt = `
import { Leadfile } from "/leadfile.js";
const make = (more) => {
  try {
    new Leadfile({ baseUrl: "https://www.example.com", key: "lf_someKey1", ...more });
    return "made";
  } catch (error) {
    return error.message.includes("browser") ? "refused" : String(error);
  }
};
const tried = make() + " " + make({ dangerouslyAllowBrowser: true });
`;

const html = `<!doctype html><p id="page"></p><p id="worker"></p><script type="module">${attempt}
document.getElementById("page").textContent = "page: " + tried;
new Worker("/worker.js", { type: "module" }).onmessage = ({ data }) => {
  document.getElementById("worker").textContent = "worker: " + data;
};
</script>`;

const programs = clientPrograms();

publishing("every program of the guide compiles", async () => {
  const { folder } = await install();
  for (const { heading, code } of programs) writeFileSync(join(folder, `${heading}.ts`), code);
  const typeRoots = [join(root, "node_modules/@types")];
  const module = { module: "NodeNext", target: "ES2022", types: ["node"], typeRoots };
  const compilerOptions = { strict: true, noEmit: true, ...module };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  expect(await Bun.$`${root}/node_modules/.bin/tsc -p .`.cwd(folder).nothrow().text()).toBe("");
});

/** The output that each program must print before it may be stopped. */
const printed: Readonly<Record<string, RegExp>> = {
  "Read leads, pixels, and usage": /Dana[\s\S]*px_site[\s\S]*requests_today/,
  "Read all leads": aLineForEachLead,
  "Follow new leads": aLineForEachLead,
  "Handle errors": /begin again[\s\S]*invalid_cursor 400 http:\S+#invalid_cursor [\s\S]*false/,
};

for (const { heading, code } of programs) {
  publishing(`the program under "${heading}" runs, and loses none of 2,000 leads`, async () => {
    const { url, aKey } = await aBusyServer();
    const { folder } = await install();
    const running = run("mts", code, { LEADFILE_URL: url, LEADFILE_KEY: aKey() }, folder);
    const expected = printed[heading] ?? /$^/;
    await running.said(expected);
    const status = await (code.includes("SIGINT") ? running.end("SIGINT") : running.exited);
    expect([status, running.errors()]).toEqual([0, ""]);
    if (expected === aLineForEachLead) expect(new Set(running.output().match(/^\S+/gm)).size).toBe(2_000);
  });
}

publishing("the command of the guide installs the package from a running server, and follow with it", async () => {
  const folder = aFolder();
  const { url, aKey } = await serve({ leads: someLeads(5) });
  writeFileSync(join(folder, "package.json"), "{}");
  const quiet = "export npm_config_audit=false npm_config_fund=false\n";
  for (const { text } of blocksOf(guide).filter(({ info }) => info === "sh")) {
    await Bun.$`sh -ec ${quiet + text.replaceAll("http://127.0.0.1:3000", url)}`.cwd(folder).quiet();
  }
  expect(readFileSync(join(folder, "node_modules/@leadfile/client/package.json"), "utf8")).toContain(
    "@leadfile/client",
  );
  const running = start({ LEADFILE_KEY: aKey() }, folder, ["node_modules/.bin/leadfile-follow", url]);
  await running.said(/(?:^\{.*\}\n){5}/m);
  expect([await running.end("SIGTERM"), running.errors()]).toEqual([0, ""]);

  // Without an installation, as docs/follow.md runs it. npx forwards no signal, so only the help is printed.
  const [, command = ""] = /^```sh\n(npx .*)\n```$/m.exec(readFileSync(join(root, "docs/follow.md"), "utf8")) ?? [];
  const line = command.replaceAll("https://www.example.com", url).replace("npx", "npx --yes");
  expect(await Bun.$`sh -ec ${`${line} --help`}`.cwd(aFolder()).quiet().text()).toStartWith("Usage: follow");
});

test("the guide lists every option, and every error class apart from those of the codes", () => {
  const listed = [...guide.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name ?? "");
  const settings: Record<keyof client.LeadfileOptions, true> = {
    baseUrl: true,
    key: true,
    retries: true,
    timeout: true,
    longestWait: true,
    fetch: true,
    allowPlainHttp: true,
    dangerouslyAllowBrowser: true,
    onRetry: true,
    clock: true,
  };
  const classes = Object.entries(client).filter(
    ([, value]) =>
      typeof value === "function" &&
      !(value.prototype instanceof client.ApiError) &&
      value.prototype instanceof client.LeadfileError,
  );
  expect(new Set(listed)).toEqual(new Set([...Object.keys(settings), ...classes.map(([name]) => name)]));
  expect(listed).toContain(client.SettingError.name);
});
