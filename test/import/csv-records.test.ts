/** What is read without the parser is what the parser reads. */
import { expect, test } from "bun:test";
import { Parser } from "csv-parse";
import fc from "fast-check";
import { readPlain } from "../../src/import/parse/csv/plain-records.ts";

/** The records that csv-parse finds up to the first damaged one. */
function parsed(text: string, delimiter: string): string[][] {
  const found: string[][] = [];
  const parser = new Parser({
    ...{ bom: false, delimiter, record_delimiter: ["\r\n", "\n"], relax_column_count: true, skip_empty_lines: true },
    on_record(cells: string[]) {
      found.push(cells);
      return null;
    },
  });
  parser.on("error", () => undefined);
  parser.write(`${text}${"\n".repeat(8)}`);
  return found;
}

test.each([",", ";", "\t", "|"])("whatever is between the lines, with %j between the cells", (delimiter) => {
  const soup = fc.array(fc.constantFrom('"', '""', delimiter, "\n", "\r\n", "\\", "a", " ", "é", "😀", "\r"), {
    maxLength: 40,
  });
  fc.assert(
    fc.property(soup, (pieces) => {
      const text = `${pieces.join("")}\n`;
      const { records } = readPlain(text, delimiter, 1);
      expect(records.map(({ cells }) => cells)).toEqual(parsed(text, delimiter).slice(0, records.length));
    }),
    { numRuns: 3000 },
  );
});

test("a table that is well-formed and has a line a record needs no parser", () => {
  const text = 'a,b\n"x, y","say ""no"""\r\n\n,\n"",é\n';
  expect(readPlain(text, ",", 1)).toEqual({
    records: [
      { line: 1, cells: ["a", "b"] },
      { line: 2, cells: ["x, y", 'say "no"'] },
      { line: 4, cells: ["", ""] },
      { line: 5, cells: ["", "é"] },
    ],
    rest: "",
    line: 6,
  });
});

test.each(['a "b", c', '"two\nlines",c', '"open', '"a" ,b', '"Harbor \\"X\\" Inc",b'])(
  "%j is left to the parser, with all that follows",
  (odd) => {
    const text = `a,b\n${odd}\nc,d\n`;
    expect(readPlain(text, ",", 7)).toEqual({
      records: [{ line: 7, cells: ["a", "b"] }],
      rest: text.slice(4),
      line: 8,
    });
  },
);
