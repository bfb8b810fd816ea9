/** The records of CSV: plain ones are taken apart here, and the parser reads the others. */
import { readPlain } from "./plain-csv.ts";
import { type RawRecord, RecordReader } from "./record-reader.ts";

/** The parser is given so much at first: most often the record that is not plain ends within that. */
const smallestPiece = 1024;
/** It is given more and more while nothing plain lies in between: to make a parser anew takes its time. */
const largestPiece = 64 * smallestPiece;

/** Opens the records of a file that comes in texts of whole lines. */
export function openRecords(delimiter: string, firstLine: number) {
  let line = firstLine;
  /** There from the first record that is not plain until the parser is at the end of a record. */
  let parser: RecordReader | null = null;
  let piece = smallestPiece;

  /** Gives the parser the first piece of a text; it keeps a record that goes on behind it. */
  function readOdd(text: string): { readonly records: readonly RawRecord[]; readonly rest: string } {
    const end = text.indexOf("\n", piece) + 1 || text.length;
    parser ??= new RecordReader(delimiter, line);
    const records = parser.read(Buffer.from(text.slice(0, end)));
    piece = Math.min(piece * 2, largestPiece);
    if (records.length === 0) return { records, rest: text.slice(end) };
    const left = parser.giveBack();
    parser = null;
    line = left.line;
    // Most often the parser gives back what it was given last, and nothing is copied.
    const isOfText = left.text.length <= end;
    return { records, rest: isOfText ? text.slice(end - left.text.length) : left.text + text.slice(end) };
  }

  return {
    *read(text: string): Generator<readonly RawRecord[]> {
      for (let rest = text; rest !== ""; ) {
        if (parser === null) {
          const plain = readPlain(rest, delimiter, line);
          ({ line, rest } = plain);
          yield plain.records;
          if (plain.records.length > 0) piece = smallestPiece;
        }
        if (rest === "") return;
        const odd = readOdd(rest);
        rest = odd.rest;
        yield odd.records;
      }
    },
    /** What is left when there is no more text. */
    end: (): readonly RawRecord[] => parser?.end() ?? [],
  };
}
