/** The receipts of an erasure as they are printed: one for a person, or a line for each of a list. */
import type { Erased, Receipt } from "../../store/privacy.ts";
import { grouped } from "../terminal/numbers.ts";
import { forTerminal, type Output, print, tryToPrint } from "../terminal/output.ts";
import { throttle } from "../terminal/progress.ts";

export interface Receipts {
  add(one: Erased): void;
  progress(done: number, all: number): void;
  /** To be called when nothing more comes. False where standard output did not take all: those went to standard error. */
  end(): boolean;
}

/** Nobody can make a receipt again: one that standard output does not take goes to standard error. */
function createPrinter(output: Output) {
  let isTaken = true;
  return {
    print(write: () => boolean, receipt?: Receipt): void {
      isTaken &&= tryToPrint(output, write);
      if (!isTaken && receipt !== undefined) output.say(JSON.stringify(receipt));
    },
    end(): boolean {
      if (!isTaken)
        output.say("Keep the receipts above, which standard output did not take: they cannot be made again.");
      return isTaken;
    },
  };
}

/** Those of a list are printed as they come. With --json the lines are one value together. */
export function createReceipts(output: Output, isList: boolean): Receipts {
  const say = throttle(output);
  const progress = (done: number, all: number) => say(() => `${grouped(done)} of ${grouped(all)} erased`);
  return isList ? { ...receiptsOfList(output), progress } : { ...receiptOfOne(output), progress };
}

function receiptsOfList(output: Output): Pick<Receipts, "add" | "end"> {
  const printer = createPrinter(output);
  let printed = 0;
  return {
    add({ place: _, ...one }) {
      const text = forTerminal(JSON.stringify(output.json ? one : one.receipt));
      const before = printed === 0 ? "[" : ",";
      printer.print(() => print(`${output.json ? before : ""}${text}\n`), one.receipt);
      printed++;
    },
    end() {
      if (output.json) printer.print(() => print(printed === 0 ? "[]\n" : "]\n"));
      return printer.end();
    },
  };
}

/** A person is erased twice where an import has added leads behind the search. It is one receipt all the same. */
function receiptOfOne(output: Output): Pick<Receipts, "add" | "end"> {
  const printer = createPrinter(output);
  let all: Omit<Erased, "place"> | null = null;
  return {
    add({ place: _, ...one }) {
      all = all === null ? one : bothOf(all, one);
    },
    end() {
      if (all !== null) {
        const { receipt } = all;
        printer.print(() => output.result(all, forTerminal(JSON.stringify(receipt))), receipt);
      }
      return printer.end();
    },
  };
}

function bothOf(one: Omit<Erased, "place">, later: Omit<Erased, "place">): Omit<Erased, "place"> {
  return {
    erased: one.erased + later.erased,
    people: Math.max(one.people, later.people),
    receipt: together(one.receipt, later.receipt),
  };
}

function together(one: Receipt, later: Receipt): Receipt {
  return {
    ...later,
    hashes: [...new Set([...one.hashes, ...later.hashes])],
    digests: [...new Set([...one.digests, ...later.digests])],
    received: recipientsOf([...one.received, ...later.received]),
  };
}

/** Each key once: it received the one on these days, and the other on those. */
function recipientsOf(received: Receipt["received"]): Receipt["received"] {
  const byKey = new Map<string, Receipt["received"][number]>();
  for (const one of received) {
    const { first, last, possibly } = byKey.get(one.key) ?? one;
    byKey.set(one.key, {
      key: one.key,
      first: [first, one.first].toSorted()[0] ?? first,
      last: [last, one.last].toSorted()[1] ?? last,
      possibly: possibly && one.possibly,
    });
  }
  return [...byKey.values()];
}
