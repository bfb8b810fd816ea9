/** The running server: whether it answers, and whether it has the file open that lies at the path now. */
import { X509Certificate } from "node:crypto";
import { readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { connect, type PeerCertificate } from "node:tls";
import type { Config } from "../../config.ts";
import { dayOf } from "../../contract/calendar.ts";
import { filesOf } from "../../db/database-files.ts";
import { adminCommand } from "../../program-name.ts";
import { askHealth, patienceMs } from "../server.ts";
import { broken, type Finding, fine, warning } from "./finding.ts";

/**
 * Finds nothing where no server runs, or where the system does not show it. The path is null in a cluster, where a node may
 * put another file in the place of its own, and the server opens that one.
 */
export async function lookAtServer(path: string | null, url: string | null, tls: Config["tls"]): Promise<Finding[]> {
  const ghosts = path === null ? [] : findGhosts(path);
  const findings = ghosts.map((pid) => {
    const what = `Process ${pid} has a file open that was since deleted, moved or replaced: what it writes gets lost.`;
    return broken(
      "server",
      what,
      `Restart it. If the file is gone, put back a backup first: ${adminCommand} restore FILE.`,
    );
  });
  const health = url === null ? "nobody" : await askHealth(url);
  if (health === "failing" && ghosts.length === 0) {
    const advice = "Read its log for the cause, mend it, and restart it.";
    findings.push(broken("server", `The server at ${url} says that it cannot read its database.`, advice));
  }
  if (health === "fine" && ghosts.length === 0) findings.push(fine("server", `It answers at ${url}.`));
  if (url !== null && health !== "nobody" && tls !== null) findings.push(...(await lookAtCertificate(url, tls.cert)));
  return findings;
}

/** Finds a server that was not restarted after a renewal. */
async function lookAtCertificate(url: string, inFile: string): Promise<Finding[]> {
  const served = await servedCertificate(new URL(url));
  if (served === null || served.fingerprint256 === new X509Certificate(inFile).fingerprint256) return [];
  const what = `The server still gives a certificate that ends on ${dayOf(Date.parse(served.valid_to))}, and TLS_CERT has another one.`;
  return [warning("tls", what, "Restart it: it keeps the certificate that it started with.")];
}

/** Null where none is given in time. */
function servedCertificate({ hostname, port }: URL): Promise<PeerCertificate | null> {
  const { promise, resolve } = Promise.withResolvers<PeerCertificate | null>();
  const host = hostname.replaceAll(/[[\]]/g, "");
  const socket = connect({ host, port: Number(port || 443), rejectUnauthorized: false, timeout: patienceMs });
  socket.once("secureConnect", () => resolve(socket.getPeerCertificate()));
  for (const event of ["error", "timeout"]) socket.once(event, () => resolve(null));
  return promise.finally(() => socket.destroy());
}

/** Processes that opened the database at this path, though another file is there now. */
function findGhosts(path: string): number[] {
  const real = realPath(path);
  const now = statSync(path, { throwIfNoEntry: false });
  const same = (descriptor: string) => {
    const held = statSync(descriptor, { throwIfNoEntry: false });
    return held !== undefined && held.ino === now?.ino && held.dev === now.dev;
  };
  return processes().filter((pid) => {
    const held = heldBy(pid, real);
    // The log keeps its name when the file is moved away, and shows that this was the path of the database.
    return held.length > 0 && !held.some(({ descriptor }) => same(descriptor));
  });
}

function processes(): number[] {
  return entries("/proc")
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid);
}

/** The descriptors of a process for the database or its log. Those of other users cannot be seen. */
function heldBy(pid: number, path: string): { descriptor: string }[] {
  const folder = `/proc/${pid}/fd`;
  const names = new Set(filesOf(path));
  return entries(folder)
    .map((name) => ({ descriptor: join(folder, name) }))
    .filter(({ descriptor }) => names.has(targetOf(descriptor).replace(/ \(deleted\)$/, "")));
}

function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return "";
  }
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The path without links, also of a file that is gone. */
function realPath(path: string): string {
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return path;
  }
}
