/** What failed at the bottom, for the log: the layers around it may quote a statement and its values. */
export function innermost(failure: unknown): string {
  let inner = failure;
  while (inner instanceof Error && inner.cause !== undefined) inner = inner.cause;
  return inner instanceof Error ? `${inner.name}: ${inner.message}` : "an error that is not an Error";
}
