/**
 * What is answered at once, and what waits for the end of its turn of the event loop.
 *
 * Under load, answers that are ready in the same turn go out together. Each answer that goes out by itself wakes the client,
 * or the proxy before it, and turns the processor from the leads to the network and back: sixteen clients at once get a
 * third more pages when a turn reads them all before it sends them all. A client that is alone waits for nobody.
 *
 * A turn that takes too long is ended. Bun takes new connections, and answers them, for as long as there is one more: those
 * who keep opening them would keep out everybody else, and timers with them. What comes late in a turn is therefore not even
 * looked at before its end, and who waits for an answer opens no connection.
 *
 * An answer that waits is a promise, and Bun closes a connection on which the next request is there before such an answer.
 * But for turns that are too long, only connections wait that have asked many times in a row, once in a turn: a client that
 * sends requests ahead shows it long before, and is never made to wait.
 */

/** Gives an answer that is made now or at the end of the turn; what has been made may be held until then. */
export type Take = (
  make: () => Response | Promise<Response>,
  connectionOf: () => string | null,
) => Response | Promise<Response>;

const longestTurnMs = 250;
/** So many requests, each in a turn of its own, and a connection has shown that it waits for its answers. */
const provedAfter = 100;
/** Of more connections than these all are forgotten, and have to show it again. */
const mostConnections = 4096;

interface Habit {
  /** The turn of its last request. */
  turn: number;
  /** How many requests came in turns of their own; negative infinity after two in one. */
  single: number;
}

/** `mayWait` says of an answer that is made whether it may be held. */
export function createTurns(mayWait: (answer: Response) => boolean): Take {
  const habits = new Map<string, Habit>();
  let turn = 0;
  let beganMs = 0;
  let requests = 0;
  let crowded = false;
  let waiting: (() => void)[] = [];

  const end = () => new Promise<void>((resolve) => waiting.push(resolve));

  function endTurn(): void {
    const ready = waiting;
    crowded = requests > 1;
    waiting = [];
    requests = 0;
    turn++;
    for (const goOn of ready) goOn();
  }

  function isPatient(connection: string | null): boolean {
    if (connection === null) return false;
    const habit = habits.get(connection);
    if (habit === undefined) {
      if (habits.size >= mostConnections) habits.clear();
      habits.set(connection, { turn, single: 1 });
      return false;
    }
    if (habit.turn === turn) habit.single = Number.NEGATIVE_INFINITY;
    habit.turn = turn;
    return ++habit.single > provedAfter;
  }

  return (make, connectionOf) => {
    if (++requests === 1) {
      setImmediate(endTurn);
      beganMs = performance.now();
    } else if (performance.now() - beganMs > longestTurnMs) return end().then(make);
    const answer = make();
    // Whatever its answer is like, a request tells how its connection asks.
    if (!crowded || !isPatient(connectionOf())) return answer;
    return answer instanceof Promise || !mayWait(answer) ? answer : end().then(() => answer);
  };
}
