/** Progress of what takes long: a line every few seconds, so that a short run says nothing. */
import type { Output } from "./output.ts";

const lineEveryMs = 3000;

/** Says a line unless one was said a moment ago. */
export function createPace(output: Output): (line: () => string) => void {
  let saidMs = performance.now();
  return (line) => {
    const nowMs = performance.now();
    if (nowMs - saidMs < lineEveryMs) return;
    saidMs = nowMs;
    output.say(line());
  };
}
