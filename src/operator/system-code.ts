/** The code of an error of the system, such as ENOSPC: it says what went wrong, and holds no path and no value. */

/** Null for an error that has none. */
export function systemCode(cause: unknown): string | null {
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : null;
}
