/**
 * Reads JSON values of any size from pieces of text, in memory that does not grow with them: a value that is too large for
 * one record is entered, and the items of its list are read one by one.
 */
import { UserError } from "../../runtime/user-error.ts";
import { maxRecordLength, type ReadRow, tooLarge } from "../row.ts";
import type { Page } from "./json-pages.ts";
import { parseJson } from "./json-value.ts";

/** The meaning of values, which is not the concern of this file. */
export interface ValueRules {
  /** Returns the list of records that a value is; null if it is a record, and the paths of the lists if it has several. */
  readonly pageOf: (value: unknown) => Page | { readonly lists: readonly string[] } | null;
  /** Returns the rows of a value that was read as a whole. */
  readonly rowsOf: (value: unknown, text: string, line: number, parents: readonly string[]) => Iterable<ReadRow>;
}

/** The maximum number of names around a list of records. */
const maxNames = 4;
/** Pages that were joined are in a list, or in a page of pages. */
const maxDepth = 4;
/** The maximum length of the text around a list of records, which is kept to find out whether it is one. */
const maxAroundLength = maxRecordLength;
/** The approximate number of rows that are kept at a time. */
const rowsAtOnce = 2000;
/** The memory that a member takes in addition to its letters. */
const lengthOfMember = 64;

/** A step of the reading, which ends where more text is needed, or rows are to be taken. Rows are added to the text: to yield each would take long. */
type Reading<Result = void> = Generator<void, Result>;

/** Reads values that follow one another. */
export class DocumentReader {
  private readonly text: JsonText;
  private readonly reading: Reading;

  constructor(rules: ValueRules, line = 1) {
    this.text = new JsonText(line);
    this.reading = readValues(this.text, rules);
  }

  /**
   * Yields the rows that are complete with the next piece, some at a time. Throws a UserError if the text is no JSON, or no list of
   * records.
   */
  *read(piece: string, isLast: boolean): Generator<ReadRow[]> {
    const { text } = this;
    text.append(piece, isLast);
    for (let isDone = false; !isDone && !text.isWaiting; ) {
      isDone = this.reading.next().done === true;
      yield text.takeRows();
    }
  }
}

/** The text that is not read yet, and where it is in the file. */
class JsonText {
  text = "";
  at = 0;
  isLast = false;
  /** True if more text is needed. */
  isWaiting = false;
  private rows: ReadRow[] = [];
  /** The next line end; it is looked for once. */
  private lineEnd = -1;

  constructor(public line: number) {}

  append(piece: string, isLast: boolean): void {
    const kept = this.text.length - this.at;
    const lineEnd = this.lineEnd === -1 ? piece.indexOf("\n") : this.lineEnd - this.at;
    this.lineEnd = this.lineEnd === -1 && lineEnd !== -1 ? kept + lineEnd : lineEnd;
    this.text = this.text.slice(this.at) + piece;
    this.at = 0;
    this.isLast = isLast;
    this.isWaiting = false;
  }

  /** True if the rows should be taken first: those of a piece may be several times as large as it. */
  get isFull(): boolean {
    return this.rows.length >= rowsAtOnce;
  }

  addRows(rows: Iterable<ReadRow>): void {
    for (const row of rows) this.rows.push(row);
  }

  takeRows(): ReadRow[] {
    const { rows } = this;
    this.rows = [];
    return rows;
  }

  get next(): string {
    return this.text[this.at] ?? "";
  }

  beginsListOfObjects(): boolean {
    listOfObjects.lastIndex = this.at;
    return listOfObjects.test(this.text);
  }

  moveTo(offset: number): void {
    while (this.lineEnd !== -1 && this.lineEnd < offset) {
      this.line++;
      this.lineEnd = this.text.indexOf("\n", this.lineEnd + 1);
    }
    this.at = offset;
  }

  /** Moves back to the beginning of the value that was taken last. */
  moveBack(length: number, line: number): void {
    this.at -= length;
    this.line = line;
    this.lineEnd = this.text.indexOf("\n", this.at);
  }

  /** Moves to the next sign that is no blank. Returns false at the end of the text so far. */
  skipBlanks(): boolean {
    let offset = this.at;
    while (offset < this.text.length && this.text.charCodeAt(offset) <= 32) offset++;
    this.moveTo(offset);
    return offset < this.text.length;
  }

  damaged(): UserError {
    return new UserError(
      `The JSON is damaged or ends too early: see the value that begins on line ${this.line.toLocaleString("en-US")}.`,
      "Download the file again, or correct it there. Nothing was imported.",
    );
  }
}

const listOfObjects = /\[\s*[{[]/y;

function* readValues(text: JsonText, rules: ValueRules): Reading {
  while (yield* isMore(text)) yield* readValue(text, rules, 0, []);
}

/** Waits for the next piece. */
function* wait(text: JsonText): Reading {
  text.isWaiting = true;
  yield;
}

/** Moves to the next sign. Returns false at the end of the file. */
function* isMore(text: JsonText): Reading<boolean> {
  while (!text.skipBlanks()) {
    if (text.isLast) return false;
    yield* wait(text);
  }
  return true;
}

/** Moves to the next sign, which must be one of some, and returns it. */
function* expect(text: JsonText, signs: string): Reading<string> {
  if (!(yield* isMore(text)) || !signs.includes(text.next)) throw text.damaged();
  return text.next;
}

/** Reads a value as a whole. One that is larger than a record is a list of records, or has one. */
function* readValue(text: JsonText, rules: ValueRules, depth: number, parents: readonly string[]): Reading {
  yield* isMore(text);
  const { line } = text;
  const whole = yield* takeValue(text);
  const value = whole === null ? undefined : parseJson(whole);
  // The items of a damaged document are read one by one, so that those that are JSON are not lost.
  const isDamaged = whole !== null && value === undefined && depth === 0 && /^[[{]/.test(whole);
  if (isDamaged) text.moveBack(whole.length, line);
  if (whole !== null && !isDamaged) text.addRows(rules.rowsOf(value, whole, line, parents));
  else if (depth === maxDepth) throw new NoList(text);
  else if (text.next === "[") yield* readList(text, rules, depth + 1, parents);
  else if (text.next === "{") yield* readObject(text, rules, depth + 1);
  else {
    yield* skipValue(text);
    text.addRows([{ line, reason: tooLarge, source: "" }]);
  }
}

/** Takes the next value, unless it is larger than a record. */
function* takeValue(text: JsonText): Reading<string | null> {
  if (!(yield* isMore(text))) throw text.damaged();
  const scan = new Scan(text.next);
  while (!scan.advance(text) && scan.length <= maxRecordLength) {
    if (text.isLast) throw text.damaged();
    yield* wait(text);
  }
  if (scan.length > maxRecordLength) return null;
  if (scan.length === 0) throw text.damaged();
  const value = text.text.slice(text.at, text.at + scan.length);
  text.moveTo(text.at + scan.length);
  return value;
}

/** Moves past the next value, whatever its size, without keeping it. */
function* skipValue(text: JsonText): Reading {
  yield* skip(text, new Scan(text.next));
}

function* skip(text: JsonText, scan: Scan): Reading {
  for (let isEnd = false; !isEnd; ) {
    isEnd = scan.advance(text);
    text.moveTo(text.at + scan.length);
    scan.length = 0;
    if (!isEnd && text.isLast) throw text.damaged();
    if (!isEnd) yield* wait(text);
  }
}

const [quote, backslash] = [34, 92];
const afterWord = /[\s,\]}]|$/g;

/** The change of the depth at each ASCII character. */
const changes = new Int8Array(128);
for (const [character, change] of Object.entries({ "{": 1, "[": 1, "}": -1, "]": -1 }))
  changes[character.charCodeAt(0)] = change;

/** Searches for the end of a value, across several pieces of text. */
class Scan {
  /** The number of characters from the position of the text to that of the search. */
  length = 0;
  private isText = false;
  private readonly isWord: boolean;

  /** Begins at the first character of a value, or inside `depth` open objects and lists. */
  constructor(
    first: string,
    private depth = first === "{" || first === "[" ? 1 : 0,
  ) {
    this.isText = first === '"';
    this.isWord = depth === 0 && !this.isText;
    if (first !== "" && !this.isWord) this.length = 1;
  }

  /** Continues the search. Returns whether the end was found. */
  advance({ text, at, isLast }: JsonText): boolean {
    let offset = at + this.length;
    if (this.isWord) {
      afterWord.lastIndex = offset;
      offset = afterWord.exec(text)?.index ?? text.length;
      this.length = offset - at;
      return isLast || offset < text.length;
    }
    let { depth, isText } = this;
    for (; offset < text.length && (depth > 0 || isText); offset++) {
      const code = text.charCodeAt(offset);
      if (code === quote) isText = !isText;
      else if (!isText) depth += changes[code] ?? 0;
      // The character after a backslash may be in the next piece.
      else if (code === backslash && ++offset === text.length) {
        offset--;
        break;
      }
    }
    this.length = offset - at;
    this.depth = depth;
    this.isText = isText;
    return depth === 0 && !isText;
  }
}

/** Reads each item of a list. */
function* readList(text: JsonText, rules: ValueRules, depth: number, parents: readonly string[]): Reading {
  text.moveTo(text.at + 1);
  if (!(yield* isMore(text))) throw text.damaged();
  let isEnd = text.next === "]";
  while (!isEnd) {
    yield* readValue(text, rules, depth, parents);
    if (text.isFull) yield;
    isEnd = (yield* expect(text, ",]")) === "]";
    if (!isEnd) text.moveTo(text.at + 1);
  }
  text.moveTo(text.at + 1);
}

/** The members of an object that is entered. The items of its list of records are two empty objects. */
interface Around {
  [name: string]: unknown;
}

/**
 * Reads the list of records in an object. An item of a list that has none is a record, and rejected. Throws a UserError for any
 * other object that has none.
 */
function* readObject(text: JsonText, rules: ValueRules, depth: number): Reading {
  const { line } = text;
  const reader = new ObjectReader(text, rules, depth);
  try {
    yield* reader.readMembers(reader.root, 1);
    reader.check();
  } catch (cause) {
    // The items that were read already may be no records.
    const isRecord = cause instanceof NoList && depth > 1 && reader.list === null;
    if (!isRecord) throw cause;
    yield* skip(text, new Scan("", reader.open));
    text.addRows([{ line, reason: tooLarge, source: "" }]);
  }
}

class ObjectReader {
  readonly root: Around = {};
  /** The items of the list of records; null until it is found. */
  list: readonly unknown[] | null = null;
  /** The number of objects that have begun and not ended. */
  open = 0;
  private length = 0;

  constructor(
    private readonly text: JsonText,
    private readonly rules: ValueRules,
    private readonly depth: number,
  ) {}

  /** Throws a UserError unless the list that was read is that of the records. */
  check(): void {
    const found = this.rules.pageOf(this.root);
    if (found !== null && "lists" in found) throw severalLists(found.lists);
    if (this.list === null || found?.items !== this.list) throw new NoList(this.text);
  }

  *readMembers(around: Around, names: number): Reading {
    const { text } = this;
    this.open++;
    text.moveTo(text.at + 1);
    for (let sign = yield* expect(text, '"}'); sign !== "}"; sign = yield* expect(text, '"')) {
      const name = parseJson((yield* takeValue(text)) ?? "");
      if (typeof name !== "string") throw text.damaged();
      yield* expect(text, ":");
      text.moveTo(text.at + 1);
      if (!(yield* isMore(text))) throw text.damaged();
      yield* this.readMember(around, name, names);
      if ((yield* expect(text, ",}")) === "}") break;
      text.moveTo(text.at + 1);
    }
    text.moveTo(text.at + 1);
    this.open--;
  }

  /** Keeps a member, which may say that the object is a record. One that is too large or damaged is entered. */
  private *readMember(around: Around, name: string, names: number): Reading {
    const { text } = this;
    const whole = yield* takeValue(text);
    const value = whole === null ? undefined : parseJson(whole);
    if (whole !== null && value === undefined) text.moveBack(whole.length, text.line - lineEndsIn(whole));
    if (whole === null || value === undefined) return yield* this.enter(around, name, names);
    this.length += name.length + whole.length + lengthOfMember;
    if (this.length > maxAroundLength) throw new NoList(text);
    around[name] = value;
  }

  private *enter(around: Around, name: string, names: number): Reading {
    const { text, rules } = this;
    if (text.next === "{" && names < maxNames) {
      const inner: Around = {};
      around[name] = inner;
      return yield* this.readMembers(inner, names + 1);
    }
    if (text.beginsListOfObjects()) {
      const items = [{}, {}];
      around[name] = items;
      const found = rules.pageOf(this.root);
      if (found !== null && "lists" in found) throw severalLists(found.lists);
      this.list = found?.items === items ? items : this.list;
      if (found?.items === items) return yield* readList(text, rules, this.depth + 1, found.parents);
    }
    // What is no list of records says nothing of one, such as the objects that are included in it.
    around[name] = null;
    yield* skipValue(text);
  }
}

function lineEndsIn(text: string): number {
  return text.split("\n").length - 1;
}

/** The refusal of an object that is larger than a record, and has no list of records. */
class NoList extends UserError {
  constructor({ line }: JsonText) {
    super(
      `Up to line ${line.toLocaleString("en-US")}, this JSON is one record that is larger than 1 MiB.`,
      "A file is one record per line, a list of records, or one object with a list of records. Nothing was imported.",
    );
  }
}

function severalLists(lists: readonly string[]): UserError {
  return new UserError(
    `The document has several lists of records: ${lists.join(", ")}.`,
    "Export one of them, so that it is clear which records are the leads. Nothing was imported.",
  );
}
