/**
 * Preloaded into every process of a simulated year. The machine's clocks go on from where the attack has moved them to,
 * and all but the shortest waits end when they say so. The product has no line for it.
 */

/** The offset of the clocks from the real ones, in milliseconds; written only by the attack. */
const ahead = new Float64Array(Bun.mmap(process.env["LEADFILE_LAB_CLOCK"] ?? "").buffer);
const aheadMs = () => ahead[0] ?? 0;
/** The server writes its counts twice a second, also when it jumps over hours. */
const longWaitMs = 250;
const lookMs = 50;

const { setTimeout: startTimer, setInterval: startInterval } = globalThis;
const { now } = Date;
const monotonic = performance.now.bind(performance);
// An import would fix its functions for all modules that import it later.
const promises = process.getBuiltinModule("node:timers/promises");
const sleep = promises.setTimeout;

Date.now = () => now() + aheadMs();
globalThis.Date = new Proxy(Date, {
  construct: (target, args, made) => Reflect.construct(target, args.length === 0 ? [Date.now()] : args, made),
});
// It does not jump while a function waits for a lock, which another process has on the real clock.
let seenAheadMs = aheadMs();
performance.now = () => monotonic() + seenAheadMs;
const look = () => {
  seenAheadMs = aheadMs();
  return performance.now();
};
startInterval(look, lookMs).unref();

/** Looks at the clock until a wait is over, once or again and again. */
function wait(work: () => void, ms: number, isRepeated: boolean) {
  let dueMs = look() + ms;
  const timer = startInterval(() => {
    if (look() < dueMs) return;
    if (isRepeated) dueMs = performance.now() + ms;
    else clearInterval(timer);
    work();
  }, lookMs);
  return timer;
}

type Start = (work: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => unknown;

const moved =
  (start: Start, isRepeated: boolean): Start =>
  (work, ms = 0, ...args) =>
    ms < longWaitMs ? start(work, ms, ...args) : wait(() => work(...args), ms, isRepeated);

Object.assign(globalThis, {
  setTimeout: moved(startTimer, false),
  setInterval: moved(startInterval, true),
});

Object.assign(promises, {
  async setTimeout<Value>(ms: number, value: Value, options?: { readonly signal?: AbortSignal }): Promise<Value> {
    if (ms < longWaitMs) return await sleep(ms, value, options);
    for (const dueMs = look() + ms; look() < dueMs; ) await sleep(lookMs, undefined, options);
    return value;
  },
});
