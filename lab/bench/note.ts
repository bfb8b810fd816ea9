/** Progress and remarks, for the person who waits: standard output carries the result alone. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}
