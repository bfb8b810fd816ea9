/**
 * Under load, answers that are ready in the same turn of the event loop go out together at its end. Each answer that goes
 * out by itself wakes the client, or the proxy before it, and turns the processor from the leads to the network and back:
 * sixteen clients at once get a third more pages when a turn reads them all before it sends them all.
 *
 * An answer that waits is a promise, and Bun closes a connection on which the next request is there before such an answer.
 * Held are therefore only answers on connections that have asked many times in a row, once in a turn: a client that sends
 * requests ahead shows it long before, and is never made to wait. A client that is alone waits for nobody.
 */

/** The answer itself where it is to go out at once, or a promise of it for the end of the turn. */
export type Hold = (answer: Response | Promise<Response>, connectionOf: () => string | null) => typeof answer;

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

export function createTurns(): Hold {
  const habits = new Map<string, Habit>();
  let turn = 0;
  let answers = 0;
  let crowded = false;
  let held: (() => void)[] = [];

  function endTurn(): void {
    const ready = held;
    crowded = answers > 1;
    held = [];
    answers = 0;
    turn++;
    for (const send of ready) send();
  }

  function waits(connection: string | null): boolean {
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

  return (answer, connectionOf) => {
    if (++answers === 1) setImmediate(endTurn);
    if (!crowded || !waits(connectionOf())) return answer;
    return new Promise((send) => held.push(() => send(answer)));
  };
}
