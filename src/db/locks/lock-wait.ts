/** How long each kind of program waits for a lock that another one holds. */
export const lockWaitMs = {
  /** A command, or the start of the server, behind another writer. */
  toWrite: 10_000,
  /** A new server behind one that was told to stop. */
  toServe: 1_000,
  /** A program that only looks at a file, or would replace it. */
  toLook: 2_000,
} as const;
