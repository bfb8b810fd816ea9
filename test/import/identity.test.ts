/** Ids that are made: the same row gives the same one, and whatever tells rows apart gives another. */
import { describe, expect, test } from "bun:test";
import { detailFields, type LeadDetails } from "../../src/contract/lead.ts";
import { type IdentityField, idFromContent, idFromSource, wholeIdentity } from "../../src/import/map/identity.ts";

const nobody = Object.fromEntries(detailFields.map((field) => [field, null])) as unknown as LeadDetails; // All fields are there.
const dana: LeadDetails = { ...nobody, email: "dana@example.com" };

interface Told {
  readonly account?: string;
  readonly pixel?: string;
  readonly details?: LeadDetails;
  readonly ms?: number | null;
  readonly identity?: readonly IdentityField[];
}

const idOf = ({
  account = "acc_a",
  pixel = "px",
  details = dana,
  ms = 1_769_850_900_000,
  identity = wholeIdentity,
}: Told = {}) => idFromContent({ account, pixelId: pixel, details, sourceMs: ms }, identity);

test("the same row gets the same ID, a version 8 UUID that begins with its time", () => {
  expect(idOf()).toBe(idOf());
  expect(idOf()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(Number.parseInt(idOf().replaceAll("-", "").slice(0, 12), 16)).toBe(1_769_850_900_000);
  expect(idOf({ ms: null }).slice(0, 13)).toBe("00000000-0000");
});

test("a row from before 1970 gets an ID that begins with zeros", () => {
  expect(idOf({ ms: -1 })).toBe(idOf({ ms: null }));
});

test("a different account, pixel, field, or time gives a different lead", () => {
  const ids = [
    idOf(),
    idOf({ account: "acc_b" }),
    idOf({ pixel: "px_2" }),
    idOf({ details: { ...dana, city: "Reno" } }),
    idOf({ details: { ...nobody, verified_email: "dana@example.com" } }),
    idOf({ ms: 1_769_850_900_001 }),
  ];
  expect(new Set(ids).size).toBe(ids.length);
});

describe("identified by some fields", () => {
  const identity = ["email", "page_url"] as const;

  test("a person is one lead at any time, with an ID that begins with zeros", () => {
    expect(idOf({ identity })).toBe(idOf({ identity, ms: 1, details: { ...dana, city: "Reno" } }));
    expect(idOf({ identity }).slice(0, 13)).toBe("00000000-0000");
    expect(idOf({ identity })).not.toBe(idOf({ identity, details: { ...dana, page_url: "/a" } }));
  });

  test("the time counts if it is one of the fields", () => {
    const timed = [...identity, "identified_at"] as const;
    expect(idOf({ identity: timed })).not.toBe(idOf({ identity: timed, ms: 1 }));
    expect(idOf({ identity: timed })).toBe(idOf({ identity: timed, details: { ...dana, city: "Reno" } }));
  });

  test("rows without those fields are identified by all fields", () => {
    const lee = { ...nobody, name: "Lee" };
    const sam = { ...nobody, name: "Sam" };
    expect(idOf({ identity, details: lee })).not.toBe(idOf({ identity, details: sam }));
    expect(idOf({ identity, details: lee })).toBe(idOf({ details: lee }));
    expect(idOf({ identity, details: lee, ms: 1 })).not.toBe(idOf({ identity, details: lee }));
  });
});

test("a UUID is kept in lowercase, and any other ID is hashed with its pixel", () => {
  expect(idFromSource("018F4D0A-1B2C-7D3E-8F40-5A6B7C8D9E0F", "px")).toBe("018f4d0a-1b2c-7d3e-8f40-5a6b7c8d9e0f");
  expect(idFromSource("visit-1", "px")).not.toBe(idFromSource("visit-2", "px"));
  expect(idFromSource("visit-1", "px")).not.toBe(idFromSource("visit-1", "px_2"));
  expect(idFromSource("visit-1", "px")).toBe(idFromSource("visit-1", "px"));
  expect(idFromSource("visit-1", "px")).toMatch(
    /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
});
