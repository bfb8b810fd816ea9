/** The columns of a source, each with its meaning. The meaning of a record depends on its own columns alone. */
import { createHash } from "node:crypto";
import { UserError } from "../../runtime/user-error.ts";
import { type Column, columnOf, isRejectColumn, type Several } from "./column.ts";
import { createLayout, type Layout } from "./layout.ts";
import type { ColumnMapping } from "./mapping.ts";
import { Origins } from "./origins.ts";
import { type Meaning, meaningInPerson } from "./paths.ts";
import { keysOf, type Profile, type Profiles, pathKey, readVendor } from "./profiles.ts";

/** The largest exports have some hundreds of columns. */
export const maxColumns = 2000;
/** At most this many layouts are known at once; a record with another one costs a little more. */
const maxLayouts = 1000;

/** The name of no value: the end of the path of a list. */
const listSign = "[]";

/** The columns of a source, which become more while it is read. */
export class Columns {
  private readonly found: Column[] = [];
  private readonly byName = new Map<string, Column>();
  private readonly known = new Map<string, Layout>();
  private readonly signs = new Map<string, Column>();
  private readonly profiles: Profiles;
  private readonly isVendorChosen: boolean;
  private readonly vendorKeys: ReadonlySet<string>;
  /** The columns from which the fields of leads came. */
  readonly origins = new Origins();
  /** The profiles that records were recognized by, in the order in which they were found. */
  private readonly usedProfiles = new Set<string>();

  constructor(
    private readonly mapping: ColumnMapping,
    vendor: string | null = null,
  ) {
    const { all, isChosen } = readVendor(vendor);
    this.profiles = all;
    this.isVendorChosen = isChosen;
    this.vendorKeys = keysOf(all);
  }

  /** The columns that were found so far. */
  get all(): readonly Column[] {
    return this.found;
  }

  /** The layouts of the records that were found so far. */
  get layouts(): Iterable<Layout> {
    return this.known.values();
  }

  /** The name of the profile that was used first; null if none was. */
  get vendor(): string | null {
    return [...this.usedProfiles][0] ?? null;
  }

  /** Returns the column of a path in JSON. */
  at(path: readonly string[]): Column {
    const name = path.join(".");
    return this.byName.get(name) ?? this.add(name, path);
  }

  /** Returns whether --map makes an object or a list the person. */
  readonly isChosen = (path: readonly string[]): boolean =>
    this.mapping.personLength([...path, listSign]) === path.length;

  /** Returns the sign that a list at a path has several people or visits. */
  severalAt(path: readonly string[], several: Several): Column {
    const name = `${path.join(".")}\n${several}`;
    const known = this.signs.get(name);
    if (known !== undefined) return known;
    // No value has this path; its meaning says whose list it is.
    const sign = { name: `${path.join(".")}[]`, path: [...path, listSign], number: -1 - this.signs.size };
    const column = { ...columnOf(sign, this.mapping, this.vendorKeys), several, isRead: true };
    if (this.signs.size < maxColumns) this.signs.set(name, column);
    return column;
  }

  /** Adds the columns of a header, in their order. Throws a UserError if there are too many. */
  addHeader(cells: readonly string[]): Layout {
    if (cells.length > maxColumns) {
      throw new UserError(
        `The file has more than ${maxColumns.toLocaleString("en-US")} columns.`,
        "Check that its first line is the header, and remove columns that you do not need.",
      );
    }
    for (const [position, title] of cells.entries()) {
      const name = title === "" ? `(column ${position + 1})` : title;
      // The same name twice is two columns, which hold the same field.
      let unique = name;
      for (let number = position + 1; this.byName.has(unique); number++) unique = `${name} (${number})`;
      this.add(unique, [title]);
    }
    return this.layoutOf(this.found);
  }

  /** Returns the layout of a record with some columns. */
  layoutOf(columns: readonly Column[]): Layout {
    // Columns after the last one that is remembered share a number.
    if (this.found.length === maxColumns || this.signs.size === maxColumns) return this.create(columns);
    if (this.known.size === maxLayouts) this.known.clear();
    const key = columns.map(({ number }) => number).join();
    return this.known.getOrInsertComputed(key, () => this.create(columns));
  }

  /** Returns a hash of the names, which is the same in whatever order they are found. */
  layoutHash(): string {
    const names = new Set(this.found.map(({ title }) => title).filter((title) => !isRejectColumn(title)));
    return createHash("sha256")
      .update(JSON.stringify([...names].toSorted()))
      .digest("hex")
      .slice(0, 32);
  }

  /** Returns the names in --map that no column has. */
  missing(): readonly string[] {
    const found = [...this.found, ...this.signs.values()];
    return this.mapping.missing(found.map(({ names, title }) => (names.length === 0 ? [title] : names)));
  }

  /** Returns the meaning of a column in a record of a profile, which may say who the person is. */
  private readonly meaningFor = ({ names, meaning }: Column, profile: Profile | null): Meaning | null => {
    const mappedLength = this.mapping.personLength(names);
    if (mappedLength !== null) return meaningInPerson(names, mappedLength);
    const person = profile?.person;
    if (person == null || person === "") return meaning;
    const length = names.findIndex((_, index) => pathKey(names.slice(0, index + 1)) === person) + 1;
    return length === 0 || length === names.length ? meaning : meaningInPerson(names, length);
  };

  private create(columns: readonly Column[]): Layout {
    const layout = createLayout(columns, {
      profiles: this.profiles,
      isVendorChosen: this.isVendorChosen,
      meaningFor: this.meaningFor,
      origins: this.origins,
    });
    if (layout.profile !== null) this.usedProfiles.add(layout.profile.name);
    return layout;
  }

  private add(name: string, path: readonly string[]): Column {
    const column = columnOf({ name, path, number: this.found.length }, this.mapping, this.vendorKeys);
    // A record may bring ever new names; those of the first ones are reported.
    if (this.found.length < maxColumns) {
      this.found.push(column);
      this.byName.set(name, column);
    }
    return column;
  }
}
