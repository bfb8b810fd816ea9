/** A bar chart as SVG, readable on light and on dark ground, for a document. */

export interface Bar {
  readonly name: string;
  /** Times the unfiltered first page. */
  readonly ratio: number;
}

/** The most that a combination may take (times the unfiltered first page). */
const goal = 2.5;
const left = 220;
const width = 760;
const rowHeight = 22;
const top = 56;

export function writeChart(subtitle: string, bars: readonly Bar[]): string {
  const most = Math.max(goal + 0.2, ...bars.map((bar) => bar.ratio));
  const scale = (width - left - 60) / most;
  const height = top + bars.length * rowHeight + 34;
  const rows = bars.map(({ name, ratio }, place) => {
    const y = top + place * rowHeight;
    const length = (ratio * scale).toFixed(1);
    return [
      `<text class="ink" x="${left - 10}" y="${y + 14}" text-anchor="end">${escapeXml(name)}</text>`,
      `<rect class="${ratio > goal ? "over" : "bar"}" x="${left}" y="${y + 3}" width="${length}" height="15" rx="2"/>`,
      `<text class="ink" x="${(left + ratio * scale + 6).toFixed(1)}" y="${y + 14}">${ratio.toFixed(2)}</text>`,
    ].join("");
  });
  const goalX = (left + goal * scale).toFixed(1);
  const bottom = top + bars.length * rowHeight + 4;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title">
<title id="title">Time of each combination of filters as a multiple of the unfiltered first page</title>
<style>
text { font: 13px system-ui, sans-serif; }
.ink { fill: #24292f; } .pale { fill: #57606a; } .bar { fill: #2f6fbd; } .over { fill: #c4432b; }
.goal { stroke: #c4432b; stroke-dasharray: 4 3; }
@media (prefers-color-scheme: dark) {
.ink { fill: #e6edf3; } .pale { fill: #9aa4af; } .bar { fill: #58a6ff; } .over { fill: #ff7b6b; } .goal { stroke: #ff7b6b; }
}
</style>
<text class="ink" x="${left}" y="20" font-weight="600">Slowest of newest, deep and sliced page, times the unfiltered first page</text>
<text class="pale" x="${left}" y="40">${escapeXml(subtitle)}</text>
${rows.join("\n")}
<line class="goal" x1="${goalX}" x2="${goalX}" y1="${top - 4}" y2="${bottom}"/>
<text class="pale" x="${goalX}" y="${bottom + 18}" text-anchor="middle">goal: at most ${goal}</text>
</svg>
`;
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
