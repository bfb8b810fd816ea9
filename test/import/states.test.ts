/** States: the codes of the US post by code or name, and only where the country is the United States or empty. */
import { describe, expect, test } from "bun:test";
import { stateCode, states } from "../../src/contract/states.ts";
import { leadOf, leadsOf } from "./reading.ts";

test("knows the fifty states, DC, the territories, the associated states, and the military codes", () => {
  expect(Object.keys(states)).toHaveLength(50 + 1 + 8 + 3);
});

const written = Object.entries(states).flatMap(([code, names]) =>
  [code, code.toLowerCase(), ...names.flatMap((name) => [name, name.toUpperCase()])].map(
    (text) => [text, code] as const,
  ),
);
const none = ["Ontario", "Bavaria", "XX", "C", "", "California, USA, Earth", "--", "06"];

test.each([
  ...written,
  ["D.C.", "DC"],
  ["Washington D.C.", "DC"],
  ["US-CA", "CA"],
  ["State of New York", "NY"],
  ["U.S. Virgin Islands", "VI"],
  ["Commonwealth of the Northern Mariana Islands", "MP"],
  ["Commonwealth of Virginia", "VA"],
  ...none.map((text) => [text, null] as const),
])("the state of %j is %j", (text, code) => {
  expect(stateCode(text)).toBe(code);
});

test("an unknown state is empty, with a warning", async () => {
  const [reading] = await leadsOf("email,state\ndana@example.com,Ontario\n");
  expect(reading).toMatchObject({ warnings: ["state"], lead: { state: null } });
});

describe("next to a country", () => {
  const read = async (state: string, country: string) => {
    const [reading] = await leadsOf(`email,city,state,country\ndana@example.com,Springfield,${state},${country}\n`);
    return reading !== undefined && "lead" in reading ? [reading.lead.state, ...reading.warnings] : [];
  };

  test.each([
    ...["", "-", "Unknown", "(not set)", "N/A", "US", "us", "USA", "U.S.A.", "United States", "840", "US of A"],
    ...["The United States of America", "United States (US)", "United States of America (USA)"],
    ...["Estados Unidos", "US - United States"],
  ])("%j keeps the state", async (country) => {
    expect(await read("GA", country)).toEqual(["GA"]);
  });

  test.each([
    ["GA", "Georgia"],
    ["PR", "Brazil"],
    ["WA", "Australia"],
    ["CA", "Canada"],
    ["CA", "CA"],
    ["DE", "DE"],
    ["GA", "UM"],
    ["CA", "PR"],
    ["GA", "日本"],
    ["GA", "Other"],
  ])("the state %s of %s is empty, with a warning", async (state, country) => {
    expect(await read(state, country)).toEqual([null, "country"]);
  });

  test.each([
    ["PR", "Puerto Rico"],
    ["GU", "GU"],
    ["VI", "U.S. Virgin Islands"],
  ])("the state %s of %s is kept, because files name the territory as a country", async (state, country) => {
    expect(await read(state, country)).toEqual([state]);
  });

  test("the warning about an unknown state does not blame the country", async () => {
    expect(await read("Ontario", "Canada")).toEqual([null, "state"]);
  });

  test("finds the country by other names, and only that of the visitor", async () => {
    for (const name of [
      ...["Country Code", "PERSONAL_COUNTRY", "address_country", "Contact Country"],
      ...["Country of residence", "Country Code (ISO)", "Country (Full)", "Primary Country", "country_iso_3166"],
    ]) {
      expect(await leadOf({ email: "d@example.com", state: "GA", [name]: "GE" })).toEqual({ email: "d@example.com" });
    }
    for (const name of ["Company Country", "IP Country"]) {
      expect(await leadOf({ email: "d@example.com", state: "GA", [name]: "GE" })).toMatchObject({ state: "GA" });
    }
  });
});
