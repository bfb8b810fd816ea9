/** The keys of a record with their type, which Object.keys does not keep. */

/** Returns the keys, in order, of a record that has exactly these keys. */
export function namesOf<Name extends string>(record: Readonly<Record<Name, unknown>>): Name[] {
  return Object.keys(record) as Name[]; // Object.keys returns string[].
}
