/** docs/follow.md: its verifiers take what follow signs and nothing else, and its recipe for Slack posts a lead. */
import { expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readSecret, webhook } from "../../packages/client/program/post.ts";
import { answering } from "../support/answering.ts";
import { aLead } from "../support/builders.ts";
import { aFolder } from "../support/folder.ts";
import { needing } from "../support/needing.ts";
import { start } from "../support/process.ts";
import { blocksOf } from "./walkthrough.ts";

const blocks = blocksOf(readFileSync(join(import.meta.dir, "../../docs/follow.md"), "utf8"));
const codeIn = (language: string) => blocks.filter(({ info }) => info === language).map(({ text }) => text);

const verifiers = {
  ts: {
    command: [process.execPath, "verify.ts"],
    call: `
for (const { headers, body } of JSON.parse(await Bun.stdin.text())) {
  console.log(isSigned(new Headers(headers), Buffer.from(body, "base64").toString()));
}`,
  },
  python: {
    command: ["python3", "verify.python"],
    call: `
import json, sys
for post in json.load(sys.stdin):
    print(str(is_signed(post["headers"], base64.b64decode(post["body"]))).lower())`,
  },
} as const;

for (const [language, { command, call }] of Object.entries(verifiers)) {
  needing(command[0])(
    `the verifier in ${language} takes a post of follow, and no changed, old, or other one`,
    async () => {
      const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
      const posts: { headers: Record<string, string>; body: Uint8Array }[] = [];
      const url = answering(async (request) => {
        posts.push({ headers: Object.fromEntries(request.headers), body: await request.bytes() });
        return new Response();
      });
      const post = async (ageMs: number, key = secret) => {
        const now = () => Date.now() - ageMs;
        await webhook({ url: new URL(url), secret: readSecret(key), now, timeoutMs: 5_000 })(aLead({ name: "Łódź" }));
        return posts.at(-1) ?? { headers: {}, body: new Uint8Array() };
      };
      const good = await post(0);
      const signed = { ...good.headers, "webhook-timestamp": "soon" };
      const cases = [
        good,
        { ...good, body: Buffer.concat([good.body, Buffer.from(" ")]) },
        { ...good, headers: { ...good.headers, "webhook-id": "another" } },
        { ...good, headers: signed },
        { ...good, headers: {} },
        await post(400_000),
        await post(0, "a secret of somebody else"),
      ].map(({ headers, body }) => ({ headers, body: Buffer.from(body).toString("base64") }));
      const folder = aFolder();
      writeFileSync(join(folder, command[1]), `${codeIn(language)[0]}\n${call}`);
      const shell = ["sh", "-c", `${command.join(" ")} < posts.json`];
      writeFileSync(join(folder, "posts.json"), JSON.stringify(cases));
      const running = start({ LEADFILE_POST_SECRET: secret }, folder, shell);
      expect([await running.exited, running.errors()]).toEqual([0, ""]);
      expect(running.output().trim().split("\n")).toEqual(["true", ...Array(6).fill("false")]);
    },
  );
}

needing("jq", "curl")("the recipe for Slack posts a lead as one message, and fails if Slack refuses it", async () => {
  const texts: unknown[] = [];
  const slack = answering(async (request) => {
    texts.push(((await request.json()) as { text: unknown }).text);
    return new Response(null, { status: texts.length > 1 ? 400 : 200 });
  });
  const script = codeIn("sh").find((text) => text.startsWith("#!/bin/sh")) ?? "";
  const folder = aFolder();
  writeFileSync(join(folder, "slack.sh"), script);
  writeFileSync(join(folder, "lead.json"), JSON.stringify(aLead({ name: "<!channel> & O'Neil", company: null })));
  const run = () => start({ SLACK_URL: slack }, folder, ["sh", "-c", "sh slack.sh < lead.json"]).exited;
  expect([await run(), (await run()) > 0]).toEqual([0, true]);
  expect(texts[0]).toStartWith("&lt;!channel&gt; &amp; O'Neil (no company) visited https://");
});
