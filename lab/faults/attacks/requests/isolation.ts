/** Three accounts, each lead full of marks of its own: whatever is asked, nobody sees another's. */
import { join } from "node:path";
import { detailFields, type Lead } from "../../../../src/contract/lead.ts";
import type { Random } from "../../../random.ts";
import { type Attack, createFindings, type Fault, type Outcome } from "../../fault.ts";
import { makeAccount, makeKey, prepare } from "../../product/contents.ts";
import { startServer } from "../../product/program.ts";

const leadsEach = 300;
const names = ["alder", "birch", "cedar"] as const;
type Name = (typeof names)[number];
const atOnce = 16;

export const isolation: Fault = {
  name: "three accounts on one server",
  attack: "random questions, with cursors, pixels and cities of the other accounts among them; requests",
  promise: "no byte of another account in any answer, 404 unknown_pixel for its pixels",
  small: 2000,
  full: 100_000,
  breakages: [
    {
      name: "every key reads the leads of the first account",
      patches: [
        {
          file: "src/api/auth.ts",
          from: "return { key: credential };",
          to: "return { key: { ...credential, account: 1 } };",
        },
      ],
    },
    {
      name: "pages kept without their account",
      patches: [{ file: "src/api/leads.ts", from: "{key.account} $", to: "" }],
    },
  ],
  run,
};

/** A mark that is in every field of an account's leads that can hold a text, and in its pixels. */
const markOf = (name: Name) => `${name}-mark`;

async function run({ build, folder, times, random, goesOn, progress }: Attack): Promise<Outcome> {
  const { broken, expect } = createFindings();
  const file = join(folder, "leadfile.db");
  const secrets = prepare(file, (store) =>
    Object.fromEntries(
      names.map((name) => {
        const account = makeAccount(
          store,
          name,
          Array.from({ length: leadsEach }, (_, n) => markedLead(name, n)),
        );
        return [name, makeKey(store, account).secret];
      }),
    ),
  );
  const server = await startServer(build, file);
  let asked = 0;
  let withLeads = 0;
  await Promise.all(
    Array.from({ length: atOnce }, async (_, client) => {
      const chance = random.branch(client);
      while (asked < times && goesOn()) {
        progress(++asked);
        const name = chance.pick(names);
        const target = questionOf(chance);
        const response = await fetch(`${server.url}${target}`, {
          headers: { Authorization: `Bearer ${secrets[name]}` },
        });
        const text = await response.text();
        if (text.includes(markOf(name))) withLeads++;
        const foreign = names.filter((other) => other !== name && text.includes(`${markOf(other)} `));
        expect(foreign.length === 0, () => `${name} asked ${target} and was given what is of ${foreign.join(", ")}`);
        expect(response.status < 500, () => `${name} asked ${target}: ${response.status}`);
      }
    }),
  );
  await server.end();
  expect(withLeads > asked / 10, () => `only ${withLeads} answers had leads, so that little was shown`);
  return { done: asked, broken, figures: { "answers with leads": withLeads, "leads of each account": leadsEach } };
}

/** The moments are the same in all accounts, so that every cursor means something in each. */
function markedLead(name: Name, n: number): Lead {
  const details = Object.fromEntries(detailFields.map((field) => [field, `${markOf(name)} ${field} ${n}`]));
  return {
    id: crypto.randomUUID(),
    identified_at: momentOf(n),
    pixel_id: `${markOf(name)} px${n % 3}`,
    ...details,
    phone: String(15550000 + n),
    state: n % 2 === 0 ? "CA" : "NY",
    city: n % 3 === 0 ? "San Diego" : `${markOf(name)} city ${n % 5}`,
  } as Lead; // The fields are those of the contract.
}

const momentOf = (n: number) => new Date(Date.parse("2026-01-31T00:00:00Z") + n * 61_000).toISOString();

function questionOf(random: Random): string {
  const kind = random.below(12);
  if (kind === 0) return "/api/v1/usage";
  if (kind <= 2) return "/api/v1/pixels";
  const whose = random.pick(names);
  const parameters: Record<string, () => string> = {
    limit: () => String(1 + random.below(100)),
    before: () => momentOf(random.below(leadsEach + 10)),
    since: () => momentOf(random.below(leadsEach)),
    pixel_id: () => `${markOf(whose)} px${random.below(4)}`,
    state: () => random.pick(["CA", "ny", "TX"]),
    city: () => random.pick(["San Diego", `${markOf(whose)} city ${random.below(5)}`]),
    has_email: () => random.pick(["true", "false"]),
  };
  const chosen = Object.entries(parameters).filter(([name]) => random.below(name === "pixel_id" ? 8 : 4) === 0);
  const query = chosen.map(([name, value]) => `${name}=${encodeURIComponent(value())}`).join("&");
  return `/api/v1/leads${query === "" ? "" : `?${query}`}`;
}
