/** Clients that poll and have passed late leads, and how far they must look back to meet them. */
import { printable } from "../../../operator/printable.ts";
import type { Passed } from "../../../store/disclosures.ts";
import { grouped } from "../../terminal/numbers.ts";

export function passedView({ key, label, late, overlapSeconds }: Passed) {
  return { key, label, late, overlap_seconds: overlapSeconds };
}

export function passedText({ label, prefix, late, overlapSeconds }: Passed): string {
  const client = printable(label ?? `${prefix}…`);
  return `Client ${client} has passed ${grouped(late)} of them; polling with an overlap of ${overlapText(overlapSeconds)} meets them.`;
}

/** A time rounded up, in the largest unit of which there are at least two. */
function overlapText(seconds: number): string {
  const units = [
    ["day", 86_400],
    ["hour", 3600],
    ["minute", 60],
    ["second", 1],
  ] as const;
  const [name, length] = units.find(([, length]) => seconds >= 2 * length) ?? ["second", 1];
  const count = Math.ceil(seconds / length);
  return `${grouped(count)} ${name}${count === 1 ? "" : "s"}`;
}
