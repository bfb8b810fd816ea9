/** The end that a person or the system asks for, of commands that go on until then. */

/** Aborted by the first SIGINT or SIGTERM; a second one ends the process at once. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  const signals = ["SIGINT", "SIGTERM"] as const;
  const abort = () => {
    for (const signal of signals) process.removeListener(signal, abort);
    stop.abort();
  };
  for (const signal of signals) process.on(signal, abort);
  return stop.signal;
}
