/** The keys of a record with their type: Object.keys promises only texts. */

/** The names in their order, of a record that has these and no others. */
export function namesOf<Name extends string>(record: Readonly<Record<Name, unknown>>): Name[] {
  return Object.keys(record) as Name[]; // Object.keys forgets the names that it lists.
}
