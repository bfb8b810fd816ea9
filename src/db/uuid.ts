/** The id of a lead is a UUID: 36 characters where it is served, 16 bytes where it is stored. */

/** The 16 bytes of a UUID. */
export function bytesOf(id: string): Buffer {
  return Buffer.from(id.replaceAll("-", ""), "hex");
}

/** A UUID of 32 hexadecimal digits as it is served. */
export function withHyphens(hex: string): string {
  return hex.toLowerCase().replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
