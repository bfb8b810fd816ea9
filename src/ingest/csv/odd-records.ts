/** The records of CSV that are not plain, with whatever follows until one has ended: the parser reads them. */
import type { Beginning } from "./plain-records.ts";
import { type RawRecord, RecordReader } from "./record-reader.ts";

/** The parser is given so much at once: it is slower, and to make one anew takes its time, too. */
const pieceLength = 4 * 1024;

export function openOddRecords(delimiter: string) {
  /** There from the first record that is not plain until the parser is at the end of a record. */
  let parser: RecordReader | null = null;
  return {
    /** Whether a record goes on in the next text. */
    isWithin: () => parser !== null,
    /** Reads the first piece of a text, which begins on a line; a record that goes on behind it is kept. */
    read(text: string, line: number): Beginning {
      const end = text.indexOf("\n", pieceLength) + 1 || text.length;
      parser ??= new RecordReader(delimiter, line);
      const records = parser.read(Buffer.from(text.slice(0, end)));
      if (records.length === 0) return { records, rest: text.slice(end), line };
      const left = parser.giveBack();
      parser = null;
      // Most often the parser gives back what it was given last, and nothing is copied.
      const isOfText = left.text.length <= end;
      const rest = isOfText ? text.slice(end - left.text.length) : left.text + text.slice(end);
      return { records, rest, line: left.line };
    },
    /** What is left when there is no more text. */
    end: (): readonly RawRecord[] => parser?.end() ?? [],
  };
}
