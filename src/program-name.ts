/** How the program calls itself: `bun admin` in a folder of sources, `leadfile` where it is the executable. */

/** A message that names commands, in the words of whoever reads it. */
export function inOwnWords(text: string): string {
  if (!Bun.isStandaloneExecutable) return text;
  return text
    .replaceAll(/\bbun admin\b/g, "leadfile")
    .replaceAll(/\bbun start\b/g, "leadfile serve")
    .replaceAll(/\bbun run demo\b/g, "leadfile serve --demo");
}
