/** CSV as RFC 4180 describes it, with a line feed at the end of each record. */
export function csvRecord(cells: readonly string[], delimiter = ","): string {
  const quoted = cells.map((cell) =>
    /["\r\n]/.test(cell) || cell.includes(delimiter) ? `"${cell.replaceAll('"', '""')}"` : cell,
  );
  return `${quoted.join(delimiter)}\n`;
}
