/** The records of CSV that are not plain, with whatever follows until one has ended: the parser reads them. */
import type { Beginning } from "./plain-records.ts";
import type { RecordReader } from "./record-reader.ts";

/** The parser is given this much at once: it is slower than the plain way, and making a new one takes time, too. */
const pieceLength = 4 * 1024;

interface OddBeginning extends Beginning {
  /** The parser, where a record goes on in the next text; null where all have ended. */
  readonly parser: RecordReader | null;
}

/** Reads the first piece of a text, which begins on a line, by a parser that may hold the beginning of a record. */
export function readOdd(text: string, line: number, parser: RecordReader): OddBeginning {
  const end = text.indexOf("\n", pieceLength) + 1 || text.length;
  const records = parser.read(Buffer.from(text.slice(0, end)));
  if (records.length === 0) return { records, rest: text.slice(end), line, parser };
  const left = parser.giveBack();
  // Most often the parser gives back what it was given last, and nothing is copied.
  const isOfText = left.text.length <= end;
  const rest = isOfText ? text.slice(end - left.text.length) : left.text + text.slice(end);
  return { records, rest, line: left.line, parser: null };
}
