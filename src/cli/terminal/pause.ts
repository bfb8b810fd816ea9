/** Waiting that Ctrl-C and SIGTERM end in order, for commands that go on until then. */

/** Waits so many milliseconds; true when it is time to end, before or meanwhile. */
export type Pause = (ms: number) => Promise<boolean>;

/**
 * From the first wait on, Ctrl-C ends a wait and no longer the process; a second one ends the process. A command that
 * runs beside another process is told by the end of its standard input as well.
 */
export function createPause(isCompanion: boolean): Pause {
  let told: Promise<boolean> | null = null;
  return async (ms) => {
    told ??= new Promise((resolve) => {
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve(true));
      if (isCompanion) process.stdin.once("end", () => resolve(true)).resume();
    });
    let timer: ReturnType<typeof setTimeout> | undefined;
    const over = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), ms);
    });
    return Promise.race([told, over]).finally(() => clearTimeout(timer));
  };
}
