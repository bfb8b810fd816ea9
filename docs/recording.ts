/** Draws what a terminal showed as an SVG that plays by itself, in a README as well. */

export interface Scene {
  readonly command: string;
  /** What the terminal showed, colours included. */
  readonly shown: string;
}

interface Span {
  readonly text: string;
  readonly style: string;
}

const cell = { width: 8.43, height: 19 };
const margin = { left: 18, top: 52, bottom: 18 };
const rows = 24;
/** How fast a person types, and how long a screen stays. */
const seconds = { key: 0.028, line: 0.07, pause: 2.6 };

/** All scenes one after another, each on an empty screen, for ever. */
export function drawing(scenes: readonly Scene[], columns: number): string {
  const screens = scenes.map((scene) => ({ lines: linesOf(scene, columns), typed: scene.command.length }));
  const lengths = screens.map(({ lines, typed }) => typed * seconds.key + lines.length * seconds.line + seconds.pause);
  const total = lengths.reduce((sum, one) => sum + one, 0);
  let start = 0;
  const groups = screens.map(({ lines, typed }, number) => {
    const from = start;
    start += lengths[number] ?? 0;
    return screen(number, lines, { from, typed: typed * seconds.key, to: start, total });
  });
  const width = Math.ceil(columns * cell.width + 2 * margin.left);
  const height = rows * cell.height + margin.top + margin.bottom;
  const commands = scenes.map(({ command }) => command).join("; ");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${Bun.escapeHTML(`The first five minutes in a terminal: ${commands}`)}">
<style>
text { font: 14px ui-monospace, "SF Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #dfe5ee; white-space: pre; }
.b { font-weight: 700; } .g { fill: #8fd3a8; } .r { fill: #f2a3a3; } .y { fill: #e9cf8b; } .d, .p { fill: #8b98a9; }
.s { visibility: hidden; animation-duration: ${total.toFixed(2)}s; animation-iteration-count: infinite; animation-timing-function: step-end; }
${groups.map(({ style }) => style).join("\n")}
@media (prefers-reduced-motion: reduce) { .s { animation: none; } .s${scenes.length - 1}, .s${scenes.length - 1} .s { visibility: visible; } }
</style>
<rect width="${width}" height="${height}" rx="10" fill="#10141b"/>
<circle cx="24" cy="24" r="6" fill="#2f3a49"/><circle cx="44" cy="24" r="6" fill="#2f3a49"/><circle cx="64" cy="24" r="6" fill="#2f3a49"/>
${groups.map(({ body }) => body).join("\n")}
</svg>
`;
}

interface Time {
  readonly from: number;
  /** How long the command is typed. */
  readonly typed: number;
  readonly to: number;
  readonly total: number;
}

/** A screen of lines that appear one after another, and go together. */
function screen(number: number, lines: readonly (readonly Span[])[], time: Time): { style: string; body: string } {
  const percent = (second: number) => `${((100 * second) / time.total).toFixed(3)}%`;
  const shown = (name: string, from: number) =>
    `@keyframes ${name} { 0% { visibility: hidden; } ${percent(from)} { visibility: visible; } ${percent(time.to)}, 100% { visibility: hidden; } }\n.${name} { animation-name: ${name}; }`;
  const names: string[] = [];
  const drawn = lines.map((spans, row) => {
    const name = `s${number}-${row}`;
    const at = row === 0 ? time.from : time.from + time.typed + row * seconds.line;
    names.push(shown(name, at));
    const text = spans.map(({ text, style }) =>
      style === "" ? Bun.escapeHTML(text) : `<tspan class="${style}">${Bun.escapeHTML(text)}</tspan>`,
    );
    return `<text class="s ${name}" x="${margin.left}" y="${margin.top + (row + 0.7) * cell.height}" xml:space="preserve">${text.join("")}</text>`;
  });
  return {
    style: [shown(`s${number}`, time.from), ...names].join("\n"),
    body: `<g class="s s${number}">\n${drawn.join("\n")}\n</g>`,
  };
}

/** The command behind a prompt, and the lines below it, broken where the terminal breaks them; the last that fit. */
function linesOf({ command, shown }: Scene, columns: number): Span[][] {
  const typed = broken(
    [
      { text: "$ ", style: "p" },
      { text: command, style: "b" },
    ],
    columns,
  );
  const said = shown
    .trimEnd()
    .split("\n")
    .flatMap((line) => broken(spansOf(line), columns));
  return [...typed, ...said.slice(-(rows - typed.length))];
}

const styles: Readonly<Record<string, string>> = { "1": "b", "2": "d", "31": "r", "32": "g", "33": "y" };

/** What a terminal obeys instead of showing it: numbers, and the letter of what they are for. */
const control = new RegExp(`${String.fromCharCode(27)}\\[([\\d;?]*)([A-Za-z])`);

/** The parts of a line by their colour. What was erased again, such as a bar, is not there. */
function spansOf(line: string): Span[] {
  const parts = line.split(control);
  let style = "";
  let spans: Span[] = [];
  for (let position = 0; position < parts.length; position += 3) {
    const text = (parts[position] ?? "").replaceAll(/\p{Cc}./gu, "");
    if (text !== "") spans.push({ text, style });
    if (parts[position + 2] === "m") style = styles[parts[position + 1] ?? ""] ?? "";
    if (/^[JK]$/.test(parts[position + 2] ?? "")) spans = [];
  }
  return spans;
}

/** A line as the lines of a terminal with so many columns. */
function broken(spans: readonly Span[], columns: number): Span[][] {
  const lines: Span[][] = [[]];
  let room = columns;
  for (const { text, style } of spans) {
    for (let rest = text; rest !== ""; ) {
      if (room === 0) {
        lines.push([]);
        room = columns;
      }
      const part = rest.slice(0, room);
      lines.at(-1)?.push({ text: part, style });
      room -= part.length;
      rest = rest.slice(part.length);
    }
  }
  return lines;
}
