/** Pages that were answered on their way into the ledger of a cluster. Sent again, a part changes nothing. */
import { randomText } from "../../../src/contract/random-text.ts";
import { openDisclosureReader, writeDisclosures } from "../../../src/privacy/disclosures/disclosures.ts";
import { createDisclosureLedger } from "../../../src/store/disclosure-ledger.ts";
import { openCapturing, type ReadFile } from "../capturing.ts";
import type { RqliteNode, Statement } from "../node/node.ts";
import { sendTransaction } from "../transaction.ts";

const timeoutMs = 2_000;

export function createDisclosureFlusher(node: RqliteNode, file: ReadFile) {
  const ledger = createDisclosureLedger({ of: (key, day) => openDisclosureReader(file.current()).of(key, day) });
  let collected: Statement[] = [];
  const commit = (statements: readonly Statement[]) => void collected.push(...statements);
  const capturing = openCapturing({ file, commit, catchUp: () => {} });
  let sending: Promise<void> | null = null;

  async function send(): Promise<void> {
    for (let part = ledger.next(); part !== null; part = ledger.next()) {
      collected = [];
      writeDisclosures(capturing, part);
      // Sent again under another ID, it changes nothing.
      if (collected.length > 0) await sendTransaction(node, randomText(20), collected, timeoutMs);
      ledger.drop();
    }
  }

  return {
    note: ledger.note,
    /** Sends what was noted, unless some is on its way. */
    flush(): void {
      if (sending !== null) return;
      sending = send().finally(() => {
        sending = null;
      });
      // Whoever settles hears of it.
      sending.catch(() => {});
    },
    /** Resolves when nothing is on its way any more; throws where a part could not be brought in. It is sent again then. */
    settle: async (): Promise<void> => {
      await sending;
    },
  };
}
