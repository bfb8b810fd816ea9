/**
 * What is answered at once, and what waits for the end of its turn of the event loop.
 *
 * Under load, the requests of a turn are answered together: first all are taken, then all answers are made, then all are
 * sent. The processor does not go back and forth between leads and network, the store is looked at once for all of them,
 * and the clients, or the proxy before them, are woken once. Sixteen clients at once get two thirds more pages. A client
 * that is alone waits for nobody.
 *
 * A turn that takes too long is ended. Bun takes new connections, and answers them, for as long as there is one more: those
 * who keep opening them would keep out everybody else, and timers with them. What comes late in a turn is therefore not even
 * looked at before its end, and who waits for an answer opens no connection.
 *
 * An answer that waits is a promise, and Bun closes a connection on which the next request is there before such an answer.
 * But for turns that are too long, only connections wait that have asked many times in a row, once in a turn: a client that
 * sends requests ahead shows it long before, and is never made to wait.
 */

/** Gives an answer that is made now, or with all others at the end of the turn. */
export type Take = (
  make: () => Response | Promise<Response>,
  connectionOf: () => string | null,
) => Response | Promise<Response>;

export interface TurnsParts {
  /** Whether an answer that is sent later goes out as cheaply as one that is sent at once. */
  readonly mayWait: (answer: Response) => boolean;
  /** Does the work that it is given, at once: answers are made in it. */
  readonly together: (work: () => void) => void;
}

const longestTurnMs = 250;
/** So many requests, each in a turn of its own, and a connection has shown that it waits for its answers. */
const provedAfter = 100;
/** Of more connections than these all are forgotten, and have to show it again. */
const mostConnections = 4096;

interface Habit {
  /** The turn of its last request. */
  turn: number;
  /** How many requests came in turns of their own since an answer was too large; negative infinity after two in one. */
  single: number;
}

interface Waiting {
  readonly make: () => Response | Promise<Response>;
  readonly habit: Habit | null;
  readonly send: (answer: Response | Promise<Response>) => void;
  readonly fail: (cause: unknown) => void;
}

export function createTurns({ mayWait, together }: TurnsParts): Take {
  const habits = new Map<string, Habit>();
  let turn = 0;
  let beganMs = 0;
  let requests = 0;
  let crowded = false;
  let waiting: Waiting[] = [];

  const atEnd = (make: Waiting["make"], habit: Habit | null) =>
    new Promise<Response>((send, fail) => waiting.push({ make, habit, send, fail }));

  function endTurn(): void {
    const held = waiting;
    crowded = requests > 1;
    waiting = [];
    requests = 0;
    turn++;
    if (held.length === 0) return;
    const sending: (() => void)[] = [];
    try {
      together(() => {
        for (const one of held) sending.push(attempt(one));
      });
    } finally {
      for (const send of sending) send();
    }
  }

  function attempt({ make, habit, send, fail }: Waiting): () => void {
    try {
      const answer = makeAs(habit, make);
      return () => send(answer);
    } catch (cause) {
      return () => fail(cause);
    }
  }

  /** How large an answer will be is not known before; who got a large one has to prove itself again. */
  function makeAs(habit: Habit | null, make: Waiting["make"]): Response | Promise<Response> {
    const answer = make();
    if (habit !== null && !(answer instanceof Promise) && !mayWait(answer)) habit.single = Math.min(habit.single, 0);
    return answer;
  }

  function habitOf(connection: string | null): Habit | null {
    if (connection === null) return null;
    let habit = habits.get(connection);
    if (habit === undefined) {
      if (habits.size >= mostConnections) habits.clear();
      habits.set(connection, (habit = { turn: turn - 1, single: 0 }));
    }
    if (habit.turn === turn) habit.single = Number.NEGATIVE_INFINITY;
    habit.turn = turn;
    habit.single++;
    return habit;
  }

  return (make, connectionOf) => {
    if (++requests === 1) {
      setImmediate(endTurn);
      beganMs = performance.now();
    } else if (performance.now() - beganMs > longestTurnMs) return atEnd(make, null);
    const habit = crowded ? habitOf(connectionOf()) : null;
    return habit !== null && habit.single > provedAfter ? atEnd(make, habit) : makeAs(habit, make);
  };
}
