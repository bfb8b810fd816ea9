/** The columns of a source, each with its meaning. The meaning of a record depends on its own columns alone. */
import { createHash } from "node:crypto";
import { UserError } from "../../runtime/user-error.ts";
import { type Column, columnOf, isRejectColumn, type Sign } from "./column.ts";
import { type PathInDocument, pathInDocument } from "./document.ts";
import type { ObjectKind } from "./fields.ts";
import { createLayout, type Layout } from "./layout.ts";
import type { ColumnMapping } from "./mapping.ts";
import { kindOf } from "./names.ts";
import { Origins } from "./origins.ts";
import { keysOf, readVendor, type VendorChoice } from "./profiles.ts";

/** The largest exports have some hundreds of columns. */
export const maxColumns = 2000;
/** The maximum number of cached layouts. A record with another layout takes a little longer. */
const maxLayouts = 1000;
/** No export has objects that are nested more deeply, or longer paths to values. */
const maxDepth = 32;
const maxPathLength = 1000;

/** A path in JSON records. Each of its names is looked up once for all records. */
export class Path {
  readonly kind: ObjectKind | null;
  readonly isOfPerson: boolean;
  /** True if --map makes the object at this path the person. */
  readonly isChosen: boolean;
  readonly isTooLong: boolean;
  private readonly inner = new Map<string, Path>();
  private readonly length: number;
  private column: Column | null = null;
  private said: PathInDocument | null = null;
  private readonly signs: { [Name in Sign]?: Column } = {};

  constructor(
    private readonly columns: Columns,
    readonly names: readonly string[],
    around?: Path,
  ) {
    const name = names.at(-1) ?? "";
    this.kind = kindOf(name);
    this.isOfPerson = this.kind === "person" || this.kind === "doubtfulPerson";
    this.isChosen = columns.mapping.personLength([...names, listSign]) === names.length;
    this.length = around === undefined ? 0 : around.length + name.length;
    this.isTooLong = names.length > maxDepth || this.length > maxPathLength;
  }

  at(name: string): Path {
    const known = this.inner.get(name);
    if (known !== undefined) return known;
    const path = new Path(this.columns, [...this.names, name], this);
    if (this.columns.remembersPath()) this.inner.set(name, path);
    return path;
  }

  /** The column of the value at this path. */
  get value(): Column {
    return (this.column ??= this.columns.add(this.names.join("."), this.names));
  }

  get inDocument(): PathInDocument {
    return (this.said ??= pathInDocument(this.names));
  }

  /** Returns the column of a sign at this path. */
  sign(sign: Sign): Column {
    return (this.signs[sign] ??= this.columns.addSign(this.names, sign));
  }
}

/** The columns of a source. More are added while the source is read. */
export class Columns {
  /** The columns found so far. */
  readonly all: Column[] = [];
  /** The path of the record itself. */
  readonly root: Path;
  /** The columns from which the fields of leads came. */
  readonly origins = new Origins(this.all);
  private readonly signs: Column[] = [];
  private paths = 0;
  private readonly known = new Map<string, Layout>();
  private last: Layout | null = null;
  private readonly vendors: VendorChoice;
  readonly vendorKeys: ReadonlySet<string>;
  /** The names of the profiles by which records were recognized, in the order in which they were found. */
  private readonly usedProfiles = new Set<string>();

  constructor(
    readonly mapping: ColumnMapping,
    vendor: string | null = null,
  ) {
    this.vendors = readVendor(vendor);
    this.vendorKeys = keysOf(this.vendors);
    this.root = new Path(this, []);
  }

  /** The layouts of the records that were found so far. */
  get layouts(): Iterable<Layout> {
    return this.known.values();
  }

  /** The name of the profile that was used first; null if none was. */
  get vendor(): string | null {
    return [...this.usedProfiles][0] ?? null;
  }

  /** Adds the columns of a header, in their order. Throws a UserError if there are too many. */
  addHeader(cells: readonly string[]): Layout {
    if (cells.length > maxColumns) {
      throw new UserError(
        `The file has more than ${maxColumns.toLocaleString("en-US")} columns.`,
        "Check that its first line is the header, and remove columns that you do not need.",
      );
    }
    const names = new Set<string>();
    for (const [position, title] of cells.entries()) {
      const name = title === "" ? `(column ${position + 1})` : title;
      // The same name twice is two columns, which hold the same field.
      let unique = name;
      for (let number = position + 1; names.has(unique); number++) unique = `${name} (${number})`;
      names.add(unique);
      this.add(unique, [title]);
    }
    return this.layoutOf(this.all);
  }

  /** Adds a column. Each record may have new names, so only the first columns are kept and reported. */
  add(name: string, path: readonly string[]): Column {
    const column = columnOf(name, path, this.all.length, this);
    if (this.all.length < maxColumns) this.all.push(column);
    return column;
  }

  addSign(path: readonly string[], sign: Sign): Column {
    // No value has this path; its meaning says whose list it is.
    const column = columnOf(`${path.join(".")}[]`, [...path, listSign], -1 - this.signs.length, this);
    const added = { ...column, sign, isRead: true };
    if (this.signs.length < maxColumns) this.signs.push(added);
    return added;
  }

  remembersPath(): boolean {
    return this.paths++ < 2 * maxColumns;
  }

  /** Returns the layout of a record with some columns. */
  layoutOf(columns: readonly Column[]): Layout {
    // Columns after the last one that is remembered share a number.
    if (this.all.length === maxColumns || this.signs.length === maxColumns) return this.create(columns);
    const last = this.last?.columns;
    if (this.last !== null && last?.length === columns.length && columns.every((one, index) => one === last[index])) {
      return this.last;
    }
    if (this.known.size === maxLayouts) this.known.clear();
    const key = columns.map(({ number }) => number).join();
    this.last = this.known.getOrInsertComputed(key, () => this.create(columns));
    return this.last;
  }

  /** Returns a hash of the names, which is the same in whatever order they are found. */
  layoutHash(): string {
    const names = new Set(this.all.map(({ title }) => title).filter((title) => !isRejectColumn(title)));
    return createHash("sha256")
      .update(JSON.stringify([...names].toSorted()))
      .digest("hex")
      .slice(0, 32);
  }

  /** Returns the names in --map that no column has. */
  missing(): readonly string[] {
    const found = [...this.all, ...this.signs];
    return this.mapping.missing(found.map(({ names, title }) => (names.length === 0 ? [title] : names)));
  }

  private create(columns: readonly Column[]): Layout {
    const layout = createLayout(columns, this.vendors);
    if (layout.profile !== null) this.usedProfiles.add(layout.profile.name);
    return layout;
  }
}

/** The last name in the path of a list. No value has this name. */
const listSign = "[]";
