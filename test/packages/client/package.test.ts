/** The client as it is published: what is in the package, what tools say of it, and where it runs. */
import { expect, onTestFinished } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { look } from "../../docs/browser.ts";
import { someLeads } from "../../support/builders.ts";
import { aFolder } from "../../support/folder.ts";
import { serve } from "../../support/harness.ts";
import { needing } from "../../support/needing.ts";
import { install, packed } from "./built.ts";

const publishing = needing("npm", "tar");

publishing("the package holds the code with its types, the guide and the licence, and depends on nothing", async () => {
  const folder = install(aFolder());
  const place = join(folder, "node_modules/@leadfile/client");
  const files = [...new Bun.Glob("**/*").scanSync(place)].toSorted();
  expect(files.filter((file) => !/^dist\/[a-z-]+\.(?:js|cjs|d\.ts|d\.cts)$/.test(file))).toEqual([
    "LICENSE",
    "README.md",
    "package.json",
  ]);
  expect(readFileSync(join(place, "package.json"), "utf8")).not.toContain("ependencies");
  for (const file of files.filter((name) => name.endsWith(".js"))) {
    const imported = [...readFileSync(join(place, file), "utf8").matchAll(/ from "([^"]+)"/g)].map(([, from]) => from);
    expect(imported.filter((from) => !from?.startsWith(".") && from !== "node:fs/promises")).toEqual([]);
  }
});

publishing("publint finds nothing to say", async () => {
  const place = join(install(aFolder()), "node_modules/@leadfile/client");
  const { messages } = await publint({ pkgDir: place, strict: true, pack: false });
  expect(messages).toEqual([]);
});

publishing("the types are found wherever modules are", async () => {
  const checked = await checkPackage(createPackageFromTarballData(readFileSync(packed())));
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
  const folder = install(aFolder("/tmp"));
  writeFileSync(join(folder, name), program);
  writeFileSync(join(folder, "package.json"), '{"dependencies":{"@leadfile/client":"*"}}');
  const child = Bun.spawn([...command, name, url, aKey(), "checkpoint.json"], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", HOME: folder, NO_COLOR: "1" },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [said, errors, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  expect(errors).toBe("");
  expect(status).toBe(0);
  const ids = leads.map(({ id }) => id);
  expect(JSON.parse(said)).toEqual({
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
    const folder = install(aFolder());
    const site = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch(request) {
        const { pathname } = new URL(request.url);
        if (pathname === "/") return new Response(html, { headers: { "Content-Type": "text/html" } });
        if (pathname === "/worker.js") return new Response(`${attempt} postMessage(tried);`, { headers: script });
        if (!pathname.endsWith(".js")) return new Response("", { status: 404 });
        return new Response(Bun.file(join(folder, "node_modules/@leadfile/client/dist", pathname)), {
          headers: script,
        });
      },
    });
    onTestFinished(() => site.stop(true));
    const { page } = await look(site.url.href);
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
