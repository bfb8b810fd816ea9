/**
 * Reads JSON values of any size from pieces of text, in memory that does not grow with them: a value that is too large for
 * one record is entered, and the items of its list are read one by one.
 */
import { UserError } from "../../runtime/user-error.ts";
import type { Page } from "../map/document.ts";
import { maxRecordLength, type ReadRow, tooLarge } from "../row.ts";
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
export const maxPageDepth = 4;
/** The maximum length of the text around a list of records. The text is kept to determine whether the list is one of records. */
const maxAroundLength = maxRecordLength;
/** The approximate number of rows in memory: the rows of a piece of text may be several times as large as the piece. */
export const rowsAtOnce = 2000;
/** The memory that a member takes in addition to its text. */
const lengthOfMember = 64;

const [quote, backslash] = [34, 92];
/** The change of the nesting depth at each ASCII character. */
const changes = new Int8Array(128);
for (const [sign, change] of Object.entries({ "{": 1, "[": 1, "}": -1, "]": -1 })) changes[sign.charCodeAt(0)] = change;
const listOfObjects = /\[\s*[{[]/y;
const afterWord = /[\s,\]}]/g;

/** A part of the parser. It pauses when it needs more text, and when many rows are ready. */
type Reading<Result = void> = Generator<"needs text" | "has rows", Result>;

/**
 * The members of an object that is too large to be read as a whole. Two empty objects stand for the items of its list of
 * records.
 */
interface Around {
  readonly root: Record<string, unknown>;
  /** The items of the list of records; null until it is found. */
  list: readonly unknown[] | null;
  /** The number of open objects. */
  open: number;
  length: number;
}

/** Reads consecutive JSON values. */
export class DocumentReader {
  /** The unread text begins at the offset `at`. */
  private text = "";
  private at = 0;
  private isLast = false;
  private rows: ReadRow[] = [];
  private readonly reading = this.readValues();

  /** `line` is the line of the file on which the first piece begins. */
  constructor(
    private readonly rules: ValueRules,
    private line = 1,
  ) {}

  /**
   * Yields the rows that are complete with the next piece, some at a time. Throws a UserError if the text is no JSON, or no list of
   * records.
   */
  *read(piece: string, isLast: boolean): Generator<ReadRow[]> {
    this.text = this.text.slice(this.at) + piece;
    this.at = 0;
    this.isLast = isLast;
    for (;;) {
      const { done, value } = this.reading.next();
      const { rows } = this;
      this.rows = [];
      yield rows;
      if (done === true || value === "needs text") return;
    }
  }

  private *readValues(): Reading {
    while (yield* this.isMore()) yield* this.readValue(0, []);
  }

  /** Reads a value. A value that is larger than a record must be, or have, a list of records. */
  private *readValue(depth: number, parents: readonly string[]): Reading {
    yield* this.isMore();
    const { line } = this;
    const text = yield* this.wholeValue();
    const value = text === null ? undefined : parseJson(text);
    // The items of a damaged document are read one by one, so that valid items are not lost.
    const isDamaged = value === undefined && depth === 0 && /[[{]/.test(this.next);
    if (text !== null && !isDamaged) {
      this.moveOver(text);
      for (const row of this.rules.rowsOf(value, text, line, parents)) this.rows.push(row);
    } else if (depth === maxPageDepth) throw new NoList(this.line);
    else if (this.next === "[") yield* this.readList(depth + 1, parents);
    else if (this.next === "{") yield* this.readObject(depth + 1);
    else {
      yield* this.skip(0);
      this.rows.push({ line, reason: tooLarge, source: "" });
    }
  }

  /** Reads each item of a list. */
  private *readList(depth: number, parents: readonly string[]): Reading {
    this.at++;
    if (!(yield* this.isMore())) throw this.damaged();
    let isEnd = this.next === "]";
    while (!isEnd) {
      yield* this.readValue(depth, parents);
      if (this.rows.length >= rowsAtOnce) yield "has rows";
      isEnd = (yield* this.expect(",]")) === "]";
      if (!isEnd) this.at++;
    }
    this.at++;
  }

  /**
   * Reads the list of records in an object. An item of a list that has no such list is a record that is too large, and is
   * rejected. Throws a UserError for any other object without one.
   */
  private *readObject(depth: number): Reading {
    const { line } = this;
    const around: Around = { root: {}, list: null, open: 0, length: 0 };
    try {
      yield* this.readMembers(around, around.root, depth);
      const list = this.listIn(around.root);
      if (list === null || list.items !== around.list) throw new NoList(this.line);
    } catch (cause) {
      // The items that were already read may not be records.
      const isRecord = cause instanceof NoList && depth > 1 && around.list === null;
      if (!isRecord) throw cause;
      if (around.open > 0) yield* this.skip(around.open);
      this.rows.push({ line, reason: tooLarge, source: "" });
    }
  }

  private *readMembers(around: Around, object: Record<string, unknown>, depth: number): Reading {
    around.open++;
    this.at++;
    for (let sign = yield* this.expect('"}'); sign !== "}"; sign = yield* this.expect('"')) {
      const text = (yield* this.wholeValue()) ?? "";
      const name = parseJson(text);
      if (typeof name !== "string") throw this.damaged();
      this.moveOver(text);
      yield* this.expect(":");
      this.at++;
      if (!(yield* this.isMore())) throw this.damaged();
      yield* this.readMember(around, object, name, depth);
      if ((yield* this.expect(",}")) === "}") break;
      this.at++;
    }
    this.at++;
    around.open--;
  }

  /** Keeps a member, which may show that the object is a record. Reads the members of one that is too large or damaged. */
  private *readMember(around: Around, object: Record<string, unknown>, name: string, depth: number): Reading {
    const text = yield* this.wholeValue();
    const value = text === null ? undefined : parseJson(text);
    if (text !== null && value !== undefined) {
      this.moveOver(text);
      around.length += name.length + text.length + lengthOfMember;
      if (around.length > maxAroundLength) throw new NoList(this.line);
      object[name] = value;
    } else if (this.next === "{" && around.open < maxNames) {
      const inner = {};
      object[name] = inner;
      yield* this.readMembers(around, inner, depth);
    } else {
      const items = this.beginsListOfObjects() ? [{}, {}] : null;
      object[name] = items;
      const list = items === null ? null : this.listIn(around.root);
      if (list !== null && list.items === items) {
        around.list = items;
        yield* this.readList(depth + 1, list.parents);
        return;
      }
      // Any other value says nothing about the records, such as a list of included objects.
      object[name] = null;
      yield* this.skip(0);
    }
  }

  /** Returns the list of records in an object. Throws a UserError if it has several. */
  private listIn(root: object): Page | null {
    const found = this.rules.pageOf(root);
    if (found === null || "items" in found) return found;
    throw new UserError(
      `The document has several lists of records: ${found.lists.join(", ")}.`,
      "Export one of them, so that it is clear which records are the leads. Nothing was imported.",
    );
  }

  /** Returns the text of the next value without moving; null if it is larger than a record. */
  private *wholeValue(): Reading<string | null> {
    const length = yield* this.findEnd(0, maxRecordLength);
    if (length === 0) throw this.damaged();
    return length === null ? null : this.text.slice(this.at, this.at + length);
  }

  /** Moves past the next value, or to the end of open objects, without keeping it. */
  private *skip(open: number): Reading {
    const length = yield* this.findEnd(open, null);
    this.moveOver(this.text.slice(this.at, this.at + (length ?? 0)));
  }

  /**
   * Returns the length of the next value, or of the rest of open objects; null if it is more than a maximum. Without a maximum, the
   * text that was searched is dropped.
   */
  private *findEnd(open: number, maxLength: number | null): Reading<number | null> {
    if (!(yield* this.isMore())) throw this.damaged();
    const endIn = open === 0 && !/["{[]/.test(this.next) ? endOfWord : endInside(open);
    for (let length = 0; ; ) {
      const end = endIn(this.text, this.at + length, this.isLast);
      length = (end ?? this.text.length) - this.at;
      if (maxLength !== null && length > maxLength) return null;
      if (end !== null) return length;
      if (this.isLast) throw this.damaged();
      if (maxLength === null) {
        this.moveOver(this.text.slice(this.at));
        length = 0;
      }
      yield "needs text";
    }
  }

  private get next(): string {
    return this.text[this.at] ?? "";
  }

  private beginsListOfObjects(): boolean {
    listOfObjects.lastIndex = this.at;
    return listOfObjects.test(this.text);
  }

  private moveOver(text: string): void {
    this.at += text.length;
    this.line += text.split("\n").length - 1;
  }

  /** Moves to the next character that is not a blank. Returns false at the end of the file. */
  private *isMore(): Reading<boolean> {
    for (;;) {
      for (; this.at < this.text.length; this.at++) {
        const code = this.text.charCodeAt(this.at);
        if (code > 32) return true;
        if (code === 10) this.line++;
      }
      if (this.isLast) return false;
      yield "needs text";
    }
  }

  /** Moves to the next character that is not a blank, and returns it. Throws if it is not an expected one. */
  private *expect(signs: string): Reading<string> {
    if (!(yield* this.isMore()) || !signs.includes(this.next)) throw this.damaged();
    return this.next;
  }

  private damaged(): UserError {
    return new UserError(
      `The JSON is damaged or ends too early: see the value that begins on line ${this.line.toLocaleString("en-US")}.`,
      "Download the file again, or correct it there. Nothing was imported.",
    );
  }
}

/** Returns the offset after the end of a value; null if the end is not in this text. */
type EndIn = (text: string, from: number, isLast: boolean) => number | null;

/** The place of a character: between values, in a text, or after a backslash in one. */
type Place = "outside" | "text" | "escaped";

function placeAfter(code: number, place: Place): Place {
  if (place === "escaped") return "text";
  if (code === quote) return place === "text" ? "outside" : "text";
  return place === "text" && code === backslash ? "escaped" : place;
}

/**
 * Returns a function that finds the end of a text, an object, or a list, or of `open` nested ones, across several pieces of
 * text.
 */
function endInside(open: number): EndIn {
  let depth = open;
  let place: Place = "outside";
  return (text, from) => {
    for (let offset = from; offset < text.length; offset++) {
      const code = text.charCodeAt(offset);
      if (place === "outside") depth += changes[code] ?? 0;
      place = placeAfter(code, place);
      if (depth === 0 && place === "outside") return offset + 1;
    }
    return null;
  };
}

/** Finds the end of a number or of a word. */
const endOfWord: EndIn = (text, from, isLast) => {
  afterWord.lastIndex = from;
  return afterWord.exec(text)?.index ?? (isLast ? text.length : null);
};

/** The error for an object that is larger than a record and has no list of records. */
class NoList extends UserError {
  constructor(line: number) {
    super(
      `Up to line ${line.toLocaleString("en-US")}, this JSON is one record that is larger than 1 MiB.`,
      "A file is one record per line, a list of records, or one object with a list of records. Nothing was imported.",
    );
  }
}
