/** Waiting that Ctrl-C ends in order, for commands that go on until then. */

/** Waits so many milliseconds; true when Ctrl-C came, before or meanwhile. */
export type Pause = (ms: number) => Promise<boolean>;

/** From the first wait on, Ctrl-C ends a wait and no longer the process; a second one ends the process. */
export function createPause(): Pause {
  let interrupted: Promise<boolean> | null = null;
  return async (ms) => {
    interrupted ??= new Promise((resolve) => process.once("SIGINT", () => resolve(true)));
    let timer: ReturnType<typeof setTimeout> | undefined;
    const over = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), ms);
    });
    return Promise.race([interrupted, over]).finally(() => clearTimeout(timer));
  };
}
