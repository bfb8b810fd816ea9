/** Bytes that are UTF-8, UTF-16, Windows-1252 or Mac OS Roman, told apart and never mangled by where they are cut. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { toText } from "../../src/import/parse/encoding.ts";
import { cutInto, each, readPieces, readText } from "./reading.ts";

async function decode(pieces: readonly Buffer[]) {
  let legacyLines = 0;
  let text = "";
  for await (const decoded of toText(each(pieces), () => legacyLines++)) text += decoded;
  return { text, legacyLines };
}

const cut = fc.integer({ min: 1, max: 40 });
const line = fc.string({ unit: "grapheme", maxLength: 30 }).map((text) => `${text.replaceAll(/[\r\n\ufeff]/g, "")}\n`);
const text = fc.array(line, { maxLength: 20 }).map((lines) => `x\n${lines.join("")}`);

test("UTF-8 is read unchanged, however it is cut", async () => {
  await fc.assert(
    fc.asyncProperty(text, cut, async (text, size) => {
      expect(await decode(cutInto(size, Buffer.from(text)))).toEqual({ text, legacyLines: 0 });
    }),
  );
});

test.each<[string, string, string]>([
  ["after the last line", "x\nab\n\x1a", "x\nab\n"],
  ["in the last line", "x\nab\x1a", "x\nab"],
  ["again and again, up to the end of a block", `x\nab\n${"\x1a".repeat(100)}`, "x\nab\n"],
])("a DOS end-of-file character at the end is dropped: %s", async (_, text, read) => {
  for (const size of [1, 5, 1000])
    expect(await decode(cutInto(size, Buffer.from(text)))).toEqual({ text: read, legacyLines: 0 });
});

test("a DOS end-of-file character elsewhere is kept", async () => {
  expect((await decode([Buffer.from("x\n\x1aab\x1a\n")])).text).toBe("x\n\x1aab\x1a\n");
});

test("UTF-16 is read with or without a byte order mark, however it is split", async () => {
  await fc.assert(
    fc.asyncProperty(text, cut, fc.boolean(), fc.constantFrom("\ufeff", ""), async (text, size, swapped, mark) => {
      const bytes = Buffer.from(`${mark}${text.toWellFormed()}`, "utf16le");
      if (swapped) bytes.swap16();
      expect((await decode(cutInto(size, bytes))).text).toBe(text.toWellFormed());
    }),
  );
});

describe("Windows-1252", () => {
  test("is read line by line: a line of UTF-8 next to it is not changed", async () => {
    const bytes = Buffer.concat([
      Buffer.from("name,city\n"),
      Buffer.from("Zo\u00eb,San Jos\u00e9\n", "latin1"),
      Buffer.from("Zoë,San José\n"),
      Buffer.from([0x93, 0x5a, 0x94, 0x2c, 0x80, 0x0a]),
    ]);
    const { rows, legacyLines } = await readText(bytes);
    expect(rows.map(({ cells }) => cells)).toEqual([
      ["Zoë", "San José"],
      ["Zoë", "San José"],
      ["“Z”", "€"],
    ]);
    expect(legacyLines).toBe(2);
  });

  test("is read completely, however it is split", async () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "é", "ñ", "ß", "ü"), minLength: 1, maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(fc.array(letters, { maxLength: 10 }), cut, async (lines, size) => {
        // An é before a letter of ASCII is never UTF-8.
        const text = `x\n${lines.map((line) => `${line}éa\n`).join("")}`;
        expect((await decode(cutInto(size, Buffer.from(text, "latin1")))).text).toBe(text);
      }),
    );
  });
});

test("Mac OS Roman is read if lines end in carriage returns", async () => {
  const zoe = [0x5a, 0x6f, 0x91, 0x2c, 0x53, 0x61, 0x6e, 0x20, 0x4a, 0x6f, 0x73, 0x8e, 0x0d];
  const encodings: string[] = [];
  const texts = toText(each([Buffer.from("name,city\r"), Buffer.from(zoe)]), (name) => encodings.push(name));
  expect((await Array.fromAsync(texts)).join("")).toBe("name,city\nZoë,San José\n");
  expect(encodings).toEqual(["Mac OS Roman"]);
});

test("a byte order mark is removed, and a file with nothing else is empty", async () => {
  expect((await decode([Buffer.from("\ufeffemail\n")])).text).toBe("email\n");
  for (const mark of ["efbbbf", "fffe", "feff"]) {
    const { rows, legacyLines } = await readPieces([Buffer.from(mark, "hex")]);
    expect({ rows, legacyLines }).toEqual({ rows: [], legacyLines: 0 });
  }
});

test("text with carriage returns as line ends keeps its letters, whatever its length", async () => {
  const text = `name,email\r${`${"é".repeat(1000)},zoe@example.com\r`.repeat(2300)}`;
  for (const size of [65_533, 65_534, 65_535, 65_536]) {
    const decoded = await decode(cutInto(size, Buffer.from(text)));
    const ended = text.replaceAll("\r", "\n");
    expect({ whole: decoded.text === ended, legacyLines: decoded.legacyLines }).toEqual({
      whole: true,
      legacyLines: 0,
    });
  }
});
