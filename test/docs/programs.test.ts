/** The programs of docs/api.md run as they are printed, and compile. */
import { expect, test } from "bun:test";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { answering } from "../support/answering.ts";
import { aFolder } from "../support/folder.ts";
import { serve } from "../support/harness.ts";
import { needing } from "../support/needing.ts";
import { aBusyServer, type Language, programOf, run } from "./programs.ts";

/** Returns the test function for programs in a language. Tests are skipped if the language is not installed. */
const testIn = (language: Language) => needing(...(language === "python" ? ["python3", "requests"] : []));

for (const [heading, language, expected] of [
  ["First request", "sh", /dana@example\.com/],
  ["First request", "ts", /dana@example\.com/],
  ["First request", "python", /dana@example\.com/],
  ["Paging", "sh", /"has_more":false/],
  ["Paging", "ts", /^2000 leads$/m],
  ["Paging", "python", /^2000 leads$/m],
  ["Polling", "sh", /\.\d{3}Z[\s\S]*dana@example\.com/],
  ["Limits", "sh", /requests_today/],
  ["Limits", "ts", /requests_today/],
  ["Limits", "python", /requests_today/],
] as const) {
  testIn(language)(
    `the program for ${heading} in ${language} runs as printed, and loses none of 2,000 leads`,
    async () => {
      const { url, aKey } = await aBusyServer();
      const running = run(language, programOf(heading, language, url), { LEADFILE_KEY: aKey() });
      await running.said(expected);
    },
  );
}

// polling.test.ts tests the programs that poll in the same way.
for (const heading of ["First request", "Paging", "Limits"]) {
  for (const language of ["ts", "python"] as const) {
    testIn(language)(
      `the program for ${heading} in ${language} prints the error of the server, and sends the key to no other host`,
      async () => {
        const keys: (string | null)[] = [];
        const other = answering(({ headers }) => {
          keys.push(headers.get("authorization"));
          return Response.json({}, { status: 401 });
        });
        const elsewhere = answering(() => Response.redirect(other.replace("127.0.0.1", "localhost"), 308));
        const runOn = (url: string) => run(language, programOf(heading, language, url), { LEADFILE_KEY: "lf_0" });
        const [refused, redirected] = [runOn((await serve()).url), runOn(elsewhere)];
        await Promise.all([refused.exited, redirected.exited]);
        expect(refused.errors()).toContain("This API key does not exist.");
        expect(keys).toEqual([]);
      },
    );
  }
}

test("the TypeScript programs compile in strict mode", () => {
  const folder = aFolder();
  symlinkSync(join(import.meta.dir, "../../node_modules"), join(folder, "node_modules"));
  for (const heading of ["First request", "Paging", "Polling", "Limits"]) {
    writeFileSync(join(folder, `${heading}.ts`), programOf(heading, "ts", "http://127.0.0.1:3000"));
  }
  const module = { module: "preserve", moduleDetection: "force", types: ["bun"] };
  const compilerOptions = { strict: true, noEmit: true, target: "esnext", skipLibCheck: true, ...module };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
  const compiler = join(folder, "node_modules/typescript/bin/tsc");
  expect(Bun.spawnSync([process.execPath, compiler, "-p", folder]).stdout.toString()).toBe("");
});

test("the curl that tries again writes the answer alone, so that jq can read it", async () => {
  const answers = [new Response('{"error":{}}', { status: 429, headers: { "Retry-After": "1" } })];
  const line = programOf(
    "Limits",
    "sh",
    answering(() => answers.shift() ?? new Response('{"object":"usage"}')),
  );
  expect(await Bun.$`sh -c ${line}`.quiet().text()).toBe('{"object":"usage"}');
});
