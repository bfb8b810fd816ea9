/** Pages that were answered on their way into the ledger of a cluster. Sent again, a part changes nothing. */
import { randomText } from "../../../src/contract/key.ts";
import { disclosureStatements, openDisclosureReader } from "../../../src/privacy/disclosures/ledger.ts";
import { createDisclosureLedger } from "../../../src/privacy/disclosures/pages.ts";
import type { ReadFile } from "../capturing.ts";
import type { RqliteNode } from "../node/node.ts";
import { statementOf } from "../node/statement.ts";
import { sendTransaction } from "../transaction.ts";

const timeoutMs = 2_000;

export function createDisclosureFlusher(node: RqliteNode, file: ReadFile) {
  const ledger = createDisclosureLedger(() => openDisclosureReader(file.current()));
  let sending: Promise<void> | null = null;

  async function send(): Promise<void> {
    for (let part = ledger.next(); part !== null; part = ledger.next()) {
      const statements = disclosureStatements(part).map(statementOf);
      // Sent again under another ID, it changes nothing.
      if (statements.length > 0) await sendTransaction(node, randomText(20), statements, timeoutMs);
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
