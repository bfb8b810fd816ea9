/** The state codes of a lead (§2.2): those of the US post, with their names. */

/** The names of each code, the usual one first: states, DC, territories, freely associated states, military mail. */
export const states: Readonly<Record<string, readonly string[]>> = {
  AL: ["Alabama"],
  AK: ["Alaska"],
  AZ: ["Arizona"],
  AR: ["Arkansas"],
  CA: ["California"],
  CO: ["Colorado"],
  CT: ["Connecticut"],
  DE: ["Delaware"],
  DC: ["District of Columbia", "Washington DC", "DC Washington"],
  FL: ["Florida"],
  GA: ["Georgia"],
  HI: ["Hawaii"],
  ID: ["Idaho"],
  IL: ["Illinois"],
  IN: ["Indiana"],
  IA: ["Iowa"],
  KS: ["Kansas"],
  KY: ["Kentucky"],
  LA: ["Louisiana"],
  ME: ["Maine"],
  MD: ["Maryland"],
  MA: ["Massachusetts"],
  MI: ["Michigan"],
  MN: ["Minnesota"],
  MS: ["Mississippi"],
  MO: ["Missouri"],
  MT: ["Montana"],
  NE: ["Nebraska"],
  NV: ["Nevada"],
  NH: ["New Hampshire"],
  NJ: ["New Jersey"],
  NM: ["New Mexico"],
  NY: ["New York"],
  NC: ["North Carolina"],
  ND: ["North Dakota"],
  OH: ["Ohio"],
  OK: ["Oklahoma"],
  OR: ["Oregon"],
  PA: ["Pennsylvania"],
  RI: ["Rhode Island"],
  SC: ["South Carolina"],
  SD: ["South Dakota"],
  TN: ["Tennessee"],
  TX: ["Texas"],
  UT: ["Utah"],
  VT: ["Vermont"],
  VA: ["Virginia"],
  WA: ["Washington"],
  WV: ["West Virginia"],
  WI: ["Wisconsin"],
  WY: ["Wyoming"],
  AS: ["American Samoa"],
  GU: ["Guam"],
  MP: ["Northern Mariana Islands", "CNMI"],
  PR: ["Puerto Rico"],
  VI: ["Virgin Islands", "US Virgin Islands", "United States Virgin Islands", "Virgin Islands of the United States"],
  FM: ["Federated States of Micronesia", "Micronesia"],
  MH: ["Marshall Islands"],
  PW: ["Palau"],
  AA: ["Armed Forces Americas", "Armed Forces the Americas", "Armed Forces Americas (except Canada)"],
  AE: [
    "Armed Forces Europe",
    "Armed Forces Africa",
    "Armed Forces Canada",
    "Armed Forces Middle East",
    "Armed Forces the Middle East",
    "Armed Forces Europe, the Middle East, and Canada",
  ],
  AP: ["Armed Forces Pacific"],
};

const codes = new Map(
  Object.entries(states).flatMap(([code, names]) => [code, ...names].map((name) => [key(name), code] as const)),
);

/** Returns the code of a code or a name in any case and punctuation; null if the text is not a US state. */
export function stateCode(text: string): string | null {
  // Most files have the two letters, from which nothing needs to be removed.
  const known = codes.get(text.toLowerCase());
  if (known !== undefined) return known;
  const name = key(text);
  return codes.get(name) ?? codes.get(name.replace(/^us(?=..$)/, "")) ?? null;
}

function key(name: string): string {
  return name
    .toLowerCase()
    .replace(/^(?:the )?(?:state|commonwealth) of (?:the )?/, "")
    .replaceAll(/[\s.,'’()-]/g, "");
}
