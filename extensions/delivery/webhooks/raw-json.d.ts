/** A number with every digit that was sent: in the engine, but not yet in the compiler's library. */
interface JSON {
  rawJSON(text: string): unknown;
  isRawJSON(value: unknown): boolean;
}
