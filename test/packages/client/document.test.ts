/** The guide of the client: every block of code compiles against the package as it is published, and runs. */
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as client from "../../../packages/client/src/leadfile.ts";
import { type LeadfileOptions, SettingError } from "../../../packages/client/src/leadfile.ts";
import { someLeads } from "../../support/builders.ts";
import { until } from "../../support/eventually.ts";
import { aFolder } from "../../support/folder.ts";
import { serve } from "../../support/harness.ts";
import { needing } from "../../support/needing.ts";
import { install, run } from "./built.ts";

const root = join(import.meta.dir, "../../..");
const guide = readFileSync(join(root, "docs/client.md"), "utf8");
const blocksOf = (language: string) =>
  [...guide.matchAll(/^```(\w+)\n(.*?)^```$/gms)]
    .filter(([, name]) => name === language)
    .map(([, , code]) => code ?? "");
const written = blocksOf("ts");
/** The guide creates the client once, for all programs. */
const beginning = written[0]?.match(/^[\s\S]*?\n}\);\n/)?.[0] ?? "";
const programs = written.map((code) => (code.startsWith(beginning) ? code : beginning + code));

const packing = needing("npm", "tar");

packing("every program of the guide compiles", () => {
  const folder = install(aFolder());
  for (const [index, code] of programs.entries()) writeFileSync(join(folder, `${index}.ts`), code);
  const typeRoots = [join(root, "node_modules/@types")];
  const compilerOptions = {
    strict: true,
    noEmit: true,
    module: "NodeNext",
    target: "ES2022",
    types: ["node"],
    typeRoots,
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  expect(run([join(root, "node_modules/.bin/tsc"), "-p", "."], folder)).toBe("");
});

/** The output that each program must print before it may be stopped. */
const printed = [
  /Dana[\s\S]*px_site[\s\S]*requests_today/,
  /Harbor & Pine/,
  /(?:.*Dana.*\n){3}/,
  /begin again[\s\S]*invalid_cursor 400 http:\S+#invalid_cursor [\s\S]*false/,
];

for (const [index, code] of programs.entries()) {
  const title = [...guide.slice(0, guide.indexOf(written[index] ?? code)).matchAll(/^## (.+)$/gm)].at(-1)?.[1];
  packing(`the program under "${title}" runs`, async () => {
    const { url, aKey } = await serve({ leads: someLeads(3) });
    const folder = install(aFolder());
    writeFileSync(join(folder, "program.mts"), code);
    const child = Bun.spawn([process.execPath, "program.mts"], {
      cwd: folder,
      env: { PATH: process.env["PATH"] ?? "", HOME: folder, LEADFILE_URL: url, LEADFILE_KEY: aKey() },
      stdout: "pipe",
      stderr: "pipe",
    });
    const said = { output: "" };
    const reading = (async () => {
      for await (const bytes of child.stdout) said.output += new TextDecoder().decode(bytes);
    })();
    const wanted = printed[index] ?? /$^/;
    await until(() => child.exitCode !== null || wanted.test(said.output));
    if (code.includes("SIGINT")) child.kill("SIGINT");
    const status = await child.exited;
    await reading;
    expect(await child.stderr.text()).toBe("");
    expect(said.output).toMatch(wanted);
    expect(status).toBe(0);
  });
}

packing("the commands of the guide install the package from a fresh clone", () => {
  const folder = aFolder();
  run(
    [
      "sh",
      "-ec",
      `git ls-files -z --cached --others --exclude-standard | tar --null -T - -c | (mkdir ${folder}/leadfile; tar -x -C ${folder}/leadfile)`,
    ],
    root,
  );
  writeFileSync(join(folder, "package.json"), "{}");
  const quiet = "export npm_config_audit=false npm_config_fund=false\n";
  for (const commands of blocksOf("sh")) run(["sh", "-ec", quiet + commands], folder);
  expect(readFileSync(join(folder, "node_modules/@leadfile/client/package.json"), "utf8")).toContain(
    "@leadfile/client",
  );
});

test("the guide lists every option, and every error class apart from those of the codes", () => {
  const listed = [...guide.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name ?? "");
  const settings: Record<keyof LeadfileOptions, true> = {
    baseUrl: true,
    key: true,
    retries: true,
    timeout: true,
    longestWait: true,
    fetch: true,
    allowPlainHttp: true,
    dangerouslyAllowBrowser: true,
    clock: true,
  };
  const classes = Object.entries(client).filter(
    ([, value]) =>
      typeof value === "function" &&
      !(value.prototype instanceof client.ApiError) &&
      value.prototype instanceof client.LeadfileError,
  );
  expect(new Set(listed)).toEqual(new Set([...Object.keys(settings), ...classes.map(([name]) => name)]));
  expect(listed).toContain(SettingError.name);
});
