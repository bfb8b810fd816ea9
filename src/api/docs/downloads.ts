/** The files that /docs offers to readers who have only the address of the server: the client, and the connectors. */
import components from "../../../connectors/airbyte/components.py" with { type: "text" };
import manifest from "../../../connectors/airbyte/manifest.yaml" with { type: "text" };
import dltSource from "../../../connectors/dlt/leadfile.py" with { type: "text" };
import workflow from "../../../connectors/n8n/leads.json";
import guide from "../../../connectors/README.md" with { type: "text" };
import { publicPaths } from "../../contract/paths.ts";
import clientPackage from "./client.tgz" with { type: "file" };

const asFile = (type: string, body: string | Bun.BunFile) => ({
  body,
  headers: { "Content-Type": type, "Cache-Control": "no-cache" },
});
const at = `${publicPaths.docs}/connectors`;

/** The responses by path. `bun run pack` builds the client package, and a test compares it with its sources. */
export const downloads = {
  [publicPaths.client]: asFile("application/gzip", Bun.file(clientPackage)),
  [`${at}/README.md`]: asFile("text/markdown; charset=utf-8", guide),
  [`${at}/dlt/leadfile.py`]: asFile("text/plain; charset=utf-8", dltSource),
  [`${at}/airbyte/manifest.yaml`]: asFile("text/plain; charset=utf-8", manifest),
  [`${at}/airbyte/components.py`]: asFile("text/plain; charset=utf-8", components),
  [`${at}/n8n/leads.json`]: asFile("application/json", `${JSON.stringify(workflow, null, 2)}\n`),
};
