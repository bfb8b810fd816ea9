/** Opens the database for commands on a cluster: they read the file of the node beside, and write into the cluster. */
import type { CommandDatabase } from "../../src/cli/command.ts";
import { openClusterDatabase } from "./cluster-database.ts";
import type { RqliteNode } from "./node/node.ts";
import { openSourceFinder } from "./source-finder.ts";
import { failureOf, openWriter } from "./writer.ts";

interface CommandSetup {
  /** The SQLite file of the node beside. */
  readonly path: string;
  /** The name of the server beside that node. */
  readonly name: string;
  readonly node: RqliteNode;
  /** Hears the names of nodes that could not be asked, and that answer nobody until they have caught up. */
  readonly onSilent: (names: readonly string[]) => void;
  /** Called with the reason where no majority is heard, so that what is read may be old. */
  readonly onUnheard: (reason: string) => void;
}

/** How long a command looks for a majority before it reads without one. */
const patienceMs = 2_000;

/** Opens it. */
export function openCommandDatabase({ path, name, node, onSilent, onUnheard }: CommandSetup): CommandDatabase {
  const writer = openWriter(path, node, onSilent);
  // What a command beside another node has just written is there to be read.
  try {
    const unheard = failureOf(() => writer.catchUp(patienceMs));
    if (unheard !== null) onUnheard(unheard);
  } catch (cause) {
    writer[Symbol.dispose]();
    throw cause;
  }
  let finder: ReturnType<typeof openSourceFinder> | null = null;
  return Object.assign(openClusterDatabase(path, node, onSilent, writer.file), {
    importer: async () => (await import("./import/import.ts")).clusterImporter(writer),
    sourceFinder: async () => (finder ??= openSourceFinder(node, name, writer.file)),
    close() {
      finder?.close();
      writer[Symbol.dispose]();
    },
  });
}
