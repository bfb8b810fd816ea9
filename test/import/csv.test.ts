/** CSV as programs write it, however its bytes arrive, and what a damaged record costs. */
import { describe, expect, test } from "bun:test";
import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { csv, leadsOf, readPieces, readText, shown } from "./reading.ts";

const cellsOf = async (text: string | Buffer) => (await readText(text)).rows.map(({ cells, fault }) => fault ?? cells);

test.each<[string, string]>([
  ["the delimiters in a quoted header are not counted", '"a,b,c,d";email\n1;2\n'],
  ["a byte order mark is not part of the first name", "\ufeffemail;city\n1;2\n"],
  ["empty lines before the header and between rows mean nothing", "\n\r\nemail;city\n\n1;2\n\n"],
  ["the last line needs no end", "email;city\n1;2"],
  ["a line of Excel that names the delimiter is no header", "sep=;\nemail;city\n1;2\n"],
])("%s", async (_, text) => {
  expect(await cellsOf(text)).toEqual([["1", "2"]]);
});

test.each([
  ['email,notes\n\na@example.com,"1\n2\n3"\r\n\nb@example.com,x\n', [3, 7]],
  ['sep=;\nemail;city\n1;"two\nlines"\n\n2;Reno\n', [3, 6]],
])("a row of %j has the line number on which it begins", async (text, lines) => {
  expect((await readText(text)).rows.map(({ line }) => line)).toEqual(lines);
});

test("rejects a header with a NUL, because the file is not text", async () => {
  const archived = `export.csv${"\0".repeat(502)}Date,Email\n2026-01-05,dana@example.com\n`;
  await expect(readText(archived)).rejects.toThrow(
    "The header, line 1 of the file, cannot be read: it contains a NUL, so it is not text.",
  );
});

test("rejects a row with a different number of cells than the header, and names an unquoted value", async () => {
  expect(await cellsOf("email,city\nd@example.com,Reno,NV\nd@example.com\nd@example.com,Reno\n")).toEqual([
    expect.stringContaining("the header has 2 cells, and this row 3; a value with a , may need quotes"),
    expect.stringContaining("the header has 2 cells, and this row 1"),
    ["d@example.com", "Reno"],
  ]);
});

test("a line that a spreadsheet quoted as one cell is split into its cells", async () => {
  const rows = ["d@example.com,Reno", '"lee@example.com,""Reno, NV"""', '"k@example.com,""a"",b"', '"a,b"', '",""a'];
  expect(await cellsOf(`email,city\n${rows.join("\n")}\n`)).toEqual([
    ["d@example.com", "Reno"],
    ["lee@example.com", "Reno, NV"],
    expect.stringContaining("this row 1"),
    ["a", "b"],
    expect.stringContaining("a quote that is not closed"),
  ]);
  expect(await cellsOf('company\n"a,b"\n"""Acme"""\n')).toEqual([["a,b"], ['"Acme"']]);
});

test("a repeated header, as in joined files, is not a lead", async () => {
  const joined = "\ufeffname,city\nDana,Reno\n\ufeffname , city\nname,Reno\n";
  expect(await cellsOf(joined)).toEqual([
    ["Dana", "Reno"],
    "it repeats the header, as in concatenated files",
    ["name", "Reno"],
  ]);
});

describe("an unclosed quote", () => {
  const good = Array.from({ length: 50 }, (_, n) => `p${n}@example.com,Reno\n`).join("");

  test.each([
    ["at the beginning of a cell", '"open,Reno\n'],
    ["in the last cell", 'd@example.com,"open\n'],
    ["after a cell that was closed", '"d@example.com"x,"open\n'],
  ])("rejects only its line, also if carriage returns end the lines: %s", async (_, line) => {
    const text = `email,city\n${good}${line}${good}`;
    for (const { rows } of [await readText(text), await readText(text.replaceAll("\n", "\r"))]) {
      expect(rows).toHaveLength(101);
      expect(rows.filter(({ fault }) => fault !== null).map(({ line }) => line)).toEqual([52]);
    }
  });

  const longNote = (lines: number) => [
    'd@example.com,"',
    ...Array<string>(lines).fill("a note, long, or so"),
    '",Reno',
  ];

  test.each<[string, string[]]>([
    ["by a stray quote", ['d@example.com,"said "hi"', 'to me",Reno']],
    ["with lines that would fit the header", ['d@example.com,"said "hi"', "a,b,c,d", 'to me, all",Reno']],
    ["with an empty line", ['d@example.com,"said "hi"', "", 'to me",Reno']],
    ["by a quote that is never closed", ['d@example.com,"said', "hi to me,Reno"]],
    ["by a size of more than one mebibyte", longNote(60_000)],
    ["by a size of many mebibytes", longNote(400_000).map((line) => line.replace(", or", ""))],
  ])("a record of several lines that is damaged %s is one rejected record with its lines", async (_, damaged) => {
    const text = ["email,notes,city", "a@example.com,x,Reno", ...damaged, "b@example.com,y,Reno", ""].join("\n");
    const { rows } = await readPieces((text.match(/[\s\S]{1,65536}/g) ?? []).map((piece) => Buffer.from(piece)));
    expect(rows.map(({ line, fault }) => [line, fault !== null])).toEqual([
      [2, false],
      [3, true],
      [3 + damaged.length, false],
    ]);
    expect(rows[1]?.source.at(-1)).toBe(damaged.join("\n").slice(0, 65_536));
  });

  test.each<[string, string, string]>([
    [
      "in the last cell of a record of several lines costs that record alone",
      'city,email,notes\nx,a@example.com,1\nx,b@example.com,"said "hi"\n\nto me"\nx,c@example.com,"a\nb"\nx,d,5"\n',
      "2, 3 rejected, 6, 8",
    ],
    [
      "that no later line closes leaves its row, and the rows after it",
      'city,email\nx,5"\nReno\nx,b@example.com\nx,6"\nx,7"\n',
      "2, 3 rejected, 4, 5, 6",
    ],
  ])("%s", async (_, text, expected) => {
    const { rows } = await readText(text);
    expect(rows.map(({ line, fault }) => `${line}${fault === null ? "" : " rejected"}`).join(", ")).toBe(expected);
  });

  test.each([1, 3])("is rejected in the header, on line %d", async (line) => {
    const text = `${"\n".repeat(line - 1)}email,"city\n${good}`;
    await expect(readText(text)).rejects.toThrow(
      `The header, line ${line} of the file, cannot be read: it has a quote`,
    );
  });

  test("in thousands of lines rejects only those lines", async () => {
    const { rows } = await readText(`email,city\n${'"open,Reno\n'.repeat(5000)}${good}`);
    expect(rows.filter(({ fault }) => fault === null)).toHaveLength(50);
  });
});

describe("whatever record a quote damages, no text of the file is lost", () => {
  const words = fc.constantFrom("Reno", "5 in", 'say "hi"', '"D"', "b@example.com,fake,LA", "é");
  const more = fc.array(fc.tuple(fc.constantFrom(" ", "\n", ", ", "\n\n"), words), { maxLength: 3 });
  const value = fc.tuple(words, more).map(([first, others]) => first + others.flat().join(""));
  const record = fc.tuple(value, value, fc.boolean()).map(([notes, city, isQuoted]) => ({ notes, city, isQuoted }));
  const withoutQuotes = (text: string) => text.replaceAll('"', "");
  const isInside = (text: string, place: number) => text.slice(0, place).split('"').length % 2 === 0;

  /** A quote in front of a delimiter or a line end closes its cell: the file is another valid one up to there. */
  function closes(text: string, place: number): boolean {
    const [, before = "", run = ""] = /^(.*?)("*)$/s.exec(text.slice(0, place)) ?? [];
    const [, after] = /^("*) *[,\n]/.exec(text.slice(place)) ?? [];
    return isInside(before, before.length) && after !== undefined && (run.length + after.length) % 2 === 0;
  }

  test.each<[string, (text: string, place: number) => boolean, (text: string, place: number) => string]>([
    [
      "a stray quote",
      (text, place) => !closes(text, place),
      (text, place) => `${text.slice(0, place)}"${text.slice(place)}`,
    ],
    [
      "a missing quote at the end of a cell",
      (text, place) => /^"[,\n]/.test(text.slice(place)) && text[place - 1] !== '"' && isInside(text, place),
      (text, place) => text.slice(0, place) + text.slice(place + 1),
    ],
  ])("%s", async (_, isPlace, damage) => {
    await fc.assert(
      fc.asyncProperty(fc.array(record, { minLength: 1, maxLength: 8 }), fc.nat(), async (records, chosen) => {
        const originals = records.map(({ notes, city }, place) => [`p${place}@example.com`, notes, city]);
        const write = (cell: string, isQuoted: boolean) =>
          isQuoted || /[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
        const text = originals
          .map((cells, place) => `${cells.map((cell) => write(cell, records[place]?.isQuoted === true)).join(",")}\n`)
          .join("");
        const places = [...text].flatMap((_, place) => (isPlace(text, place) ? [place] : []));
        fc.pre(places.length > 0);
        const { rows } = await readText(`email,notes,city\n${damage(text, places[chosen % places.length] ?? 0)}`);
        const good = rows.filter(({ fault }) => fault === null);
        const read = good.map(({ source }) => [...source].map(withoutQuotes));
        const rejected = rows.filter(({ fault }) => fault !== null).flatMap(({ source }) => [...source]);
        // A line of the damaged record that fits the header may be read as a row.
        const there = withoutQuotes([...read.flat(), ...rejected].join());
        for (const part of originals.join().split(/[,\n]+ */)) expect(there).toContain(withoutQuotes(part));
        const damaged = originals.filter(
          (cells) => !read.some((other) => other.join() === withoutQuotes(cells.join())),
        );
        expect(damaged.length).toBeLessThanOrEqual(2);
      }),
      { numRuns: 250 },
    );
  });
});

test.each<[string, string, string[][]]>([
  ["within an unquoted cell is an ordinary character", '5" pipe,Reno', [['5" pipe', "Reno"]]],
  ["around a word of an unquoted cell too", 'Dana "D" W,Reno', [['Dana "D" W', "Reno"]]],
  ["around the first word of one too", '"Dana" W,Reno', [['"Dana" W', "Reno"]]],
  ["within a quoted cell is an ordinary character", '"Dana "D" Reed",Reno', [['Dana "D" Reed', "Reno"]]],
  ["within two quoted cells too", '"Dana "D"","5" pipe"', [['Dana "D"', '5" pipe']]],
  ["next to doubled ones too", '"""Dana""","San "S" José"', [['"Dana"', 'San "S" José']]],
  ["in one of both kinds of cells too", '"Dana" W,"a"b"', [['"Dana" W', 'a"b']]],
  ["after a backslash is a quote", String.raw`"Harbor \"X\" Inc",Reno`, [['Harbor "X" Inc', "Reno"]]],
  ["after two is the end", String.raw`"\"Harbor\"","C:\\dir \"a\""`, [['"Harbor"', String.raw`C:\dir "a"`]]],
  ["after a backslash and a delimiter", String.raw`"say \"hi\", all",Reno`, [['say "hi", all', "Reno"]]],
  ["after a backslash at the end", String.raw`"Harbor \"",Reno`, [['Harbor "', "Reno"]]],
  ["after blanks begins a cell", '"Whitfield, Dana", "Reno"', [["Whitfield, Dana", "Reno"]]],
  ["before blanks ends a cell", '"Lee" , "San ""S"" José"', [["Lee", 'San "S" José']]],
  ["after blanks may be of a word", 'Kim, "R" D', [["Kim", ' "R" D']]],
  ["in a later word", '"Sam", 5" pipe', [["Sam", ' 5" pipe']]],
  [
    "after a backslash may close the cell",
    `"C:\\",Reno\n"a\\",""`,
    [
      ["C:\\", "Reno"],
      ["a\\", ""],
    ],
  ],
])("a quote %s", async (_, text, cells) => {
  // The rows around it are those of any file; in the header, a cell may begin after blanks as well.
  const around = await cellsOf(`"name", "city"\n"Harbor & Pine",Reno\n${text}\n"Lee",Reno\n`);
  expect(around).toEqual([["Harbor & Pine", "Reno"], ...cells, ["Lee", "Reno"]]);
});

test.each(["\n", ""])(
  "a quote within a cell of the last row is an ordinary character before the end %j",
  async (end) => {
    const { rows } = await readText(`company,city\n"Big" Al,Reno${end}`);
    expect(rows).toMatchObject([{ cells: ['"Big" Al', "Reno"], fault: null }]);
  },
);

test("a row with line breaks in quoted cells is one row, even with blanks around the quotes", async () => {
  const rows = ['never,"a\nb\nc",x', 'd@example.com, "a\nb" ,"x\ny"', '"d@example.com" ,"a\n\nb", "x\n"'];
  expect((await readText(`email,a,b\n${rows.join("\n")}\n`)).rows.map(({ line, cells }) => [line, cells])).toEqual([
    [2, ["never", "a\nb\nc", "x"]],
    [5, ["d@example.com", "a\nb", "x\ny"]],
    [8, ["d@example.com", "a\n\nb", "x\n"]],
  ]);
});

test("a record larger than a mebibyte is rejected, and the next one is read", async () => {
  const [large, next] = await leadsOf(`email,notes\nd@example.com,"${"x".repeat(1_100_000)}"\nlee@example.com,y\n`);
  expect(large).toEqual({ fault: "it is larger than 1 MiB" });
  expect(shown(next)).toEqual({ email: "lee@example.com" });
});

test("a lead larger than 1 MiB as JSON is rejected, because its export could not be imported", async () => {
  // Each of these is six letters in JSON.
  const [large, next] = await leadsOf(`name,email\n"a${"\x01".repeat(200_000)}b",d@example.com\nLee,lee@example.com\n`);
  expect(large).toEqual({ fault: "it is larger than 1 MiB" });
  expect(shown(next)).toEqual({ name: "Lee", email: "lee@example.com" });
});

test("a cell just below the limit is kept", async () => {
  const [reading] = await leadsOf(`name,email\n${"x".repeat(900_000)},d@example.com\n`);
  expect(shown(reading)).toMatchObject({ name: "x".repeat(900_000) });
});

test("the rows do not depend on how the bytes are split", async () => {
  // "\r" as the end of rows is not among them: without it nothing tells that a cell is not over.
  const text = fc.string({
    unit: fc.constantFrom("a", "é", "😀", '"', ",", ";", "\n", "\r\n", "\t", " ", "[", "=", "\ufeff"),
  });
  const table = fc.array(fc.array(text, { minLength: 2, maxLength: 2 }), { minLength: 1, maxLength: 6 });
  const file = fc.oneof(
    fc
      .tuple(table, fc.constantFrom(",", ";", "\t"))
      .map(([rows, delimiter]) => csv([["email", "x"], ...rows], delimiter)),
    text.map((damaged) => `email,x\n${damaged}`),
  );
  const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(file, cuts, async (file, cuts) => {
      const bytes = Buffer.from(file);
      const places = [0, ...cuts.map((cut) => Math.round(cut * bytes.length)).toSorted((a, b) => a - b), bytes.length];
      const pieces = places.slice(1).map((place, number) => bytes.subarray(places[number], place));
      const whole = await readPieces([bytes]);
      const cut = await readPieces(pieces);
      expect(cut.rows).toEqual(whole.rows);
      expect(cut.columns.all.map(({ name }) => name)).toEqual(whole.columns.all.map(({ name }) => name));
    }),
    { numRuns: 250 },
  );
});

test("any cells are read as csv-parse reads them, with any delimiter and line end", async () => {
  const cell = fc.string({
    unit: fc.constantFrom('"', ",", ";", "\t", "|", "\n", "\r\n", "\\", "a", " ", "é", "😀"),
    maxLength: 8,
  });
  const table = fc.array(fc.array(cell, { minLength: 2, maxLength: 2 }), { minLength: 1, maxLength: 20 });
  const how = fc.record({
    delimiter: fc.constantFrom(",", ";", "\t", "|"),
    newline: fc.constantFrom("\n", "\r\n", "\r"),
  });
  await fc.assert(
    fc.asyncProperty(table, how, async (rows, { delimiter, newline }) => {
      // A line of another delimiter that is quoted as one cell is not among them.
      const others = rows.filter(([first]) => first !== "email");
      // If carriage returns end the rows, each within a cell is read as a line end.
      const cells = newline === "\r" ? others.map((row) => row.map((text) => text.replaceAll("\r", ""))) : others;
      const text = csv([["email", "x"], ...cells], delimiter, newline);
      const [, ...expected] = parse(text, { delimiter, relax_column_count: true });
      const { rows: read, format } = await readText(text);
      expect(read.map(({ source }) => source)).toEqual(expected);
      expect(format).toEqual({ kind: "csv", delimiter });
    }),
    { numRuns: 250 },
  );
});

test("an endless line is rejected once, and shortened", async () => {
  const pieces = [Buffer.from("email,name\n"), ...Array.from({ length: 40 }, () => Buffer.alloc(1024 * 1024, "x"))];
  for (const rest of [["\nd@example.com,Dana\n"], ["\n", "d@example.com,Dana\n"]]) {
    const { rows } = await readPieces([...pieces, ...rest.map((text) => Buffer.from(text))]);
    expect(rows.map(({ line, fault }) => [line, fault])).toEqual([
      [2, "it is larger than 1 MiB"],
      [3, null],
    ]);
  }
});
