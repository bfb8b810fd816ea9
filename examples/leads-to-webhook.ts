/**
 * Posts each new lead to a webhook, for as long as it runs.
 *
 *   export LEADFILE_KEY=lf_… WEBHOOK_SECRET=whsec_…
 *   bun examples/leads-to-webhook.ts https://www.example.com https://crm.example.com/hook
 *
 * Posts are signed as standardwebhooks.com specifies: webhook-signature is the HMAC-SHA-256 of ID, timestamp, and body. A
 * post is repeated until the response is a 2xx, so no lead is lost. A lead can arrive twice, with the same webhook-id, if
 * this program or a response was interrupted. The checkpoint is webhook.checkpoint in the current folder.
 */
import { createHmac } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Duration, type Lead, Leadfile } from "@leadfile/client";
import { fileCheckpoint } from "@leadfile/client/file";

const [baseUrl = "http://127.0.0.1:3000", hook = "http://127.0.0.1:8080", every = "30s"] = process.argv.slice(2);
const key = process.env["LEADFILE_KEY"];
if (!key) {
  process.stderr.write("Set LEADFILE_KEY to an API key.\n");
  process.exit(2);
}
const leadfile = new Leadfile({ baseUrl, key });
const secret = Buffer.from((process.env["WEBHOOK_SECRET"] ?? "").replace(/^whsec_/, ""), "base64");
if (secret.length < 16) throw new Error("Set WEBHOOK_SECRET to whsec_ and at least 16 random bytes in base64.");
const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());

/** Posts a lead until it is accepted. Throws if the program must stop; then the lead comes again at the next start. */
async function deliver(lead: Lead): Promise<void> {
  const body = JSON.stringify({ type: "lead.identified", timestamp: lead.identified_at, data: lead });
  for (let pauseMs = 500; ; pauseMs = Math.min(2 * pauseMs, 60_000)) {
    if (await post(lead.id, body)) return;
    await sleep(pauseMs * (0.5 + Math.random() / 2), undefined, { signal: stop.signal });
  }
}

async function post(id: string, body: string): Promise<boolean> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac("sha256", secret).update(`${id}.${timestamp}.${body}`).digest("base64");
  const headers = {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${signature}`,
  };
  const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(15_000)]);
  let answer = "gave no answer";
  try {
    const { ok, status } = await fetch(hook, { method: "POST", headers, body, redirect: "manual", signal });
    if (ok) return true;
    answer = `answered ${status}`;
  } catch {
    // The receiver is not reachable.
  }
  process.stderr.write(`${new URL(hook).origin} ${answer}. Leads wait until it answers 2xx; ${id} is sent again.\n`);
  return false;
}

const onError = ({ message }: Error) => void process.stderr.write(`${message} The next poll tries again.\n`);
const checkpoint = fileCheckpoint("webhook.checkpoint");
try {
  // The client checks `every`, and says what it accepts.
  const options = { every: every as Duration, checkpoint, signal: stop.signal, onError };
  for await (const lead of leadfile.leads.follow(options)) await deliver(lead);
} catch (error) {
  if (!stop.signal.aborted) throw error;
}
