/** Documented payloads of vendors become leads without further configuration. */
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { leadFields } from "../../../../src/contract/lead.ts";
import { anAdmin } from "../../../support/admin.ts";
import { eventually } from "../../../support/eventually.ts";
import { vendors } from "./vendors.ts";

const names = Object.keys(vendors);

test("each vendor's documented delivery becomes the right lead, stamped on arrival, once however often it is sent", async () => {
  const admin = anAdmin(names, { RECEIVE_PORT: "0", LOG_LEVEL: "silent" });
  const endpoint = admin.start("receive", "--every", "0.1");
  const said = new TextDecoder().decode((await endpoint.stdout.getReader().read()).value);
  const url = /^listening on (\S+)$/m.exec(said)?.[1] ?? "";
  const sources: string[] = [];
  for (const [name, { options, headers, body }] of Object.entries(vendors)) {
    if (options.includes("--pixel")) await admin.run("pixel", "create", name, "--id", "px_shop");
    const { json } = await admin.run("source", "create", name, ...options, "--json");
    sources.push(json.id);
    const deliver = () => fetch(`${url}/in/${json["token"]}`, { method: "POST", headers, body: JSON.stringify(body) });
    for (let time = 0; time < 2; time++) expect((await deliver()).status).toBe(200);
  }
  for (const [name, { lead }] of Object.entries(vendors)) {
    await eventually(async () => expect(await admin.leads(name)).toHaveLength(1));
    const [{ id: _, identified_at, ...fields } = { id: "", identified_at: "" }] = await admin.leads(name);
    const empty = Object.fromEntries(leadFields.map((field) => [field, null]));
    const { id: __, identified_at: ___, ...expected } = { ...empty, ...lead };
    expect({ name, ...fields }).toEqual({ name, ...expected });
    expect(Math.abs(Date.parse(identified_at) - Date.now())).toBeLessThan(120_000);
  }
  for (const source of sources) expect(existsSync(join(`${admin.file}.spool`, source, "rejected"))).toBe(false);
});
