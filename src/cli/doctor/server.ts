/** Checks the running server: its health, its certificate, and whether it has the file open that is at the path now. */
import { X509Certificate } from "node:crypto";
import { readlinkSync, statSync } from "node:fs";
import { basename } from "node:path";
import { connect, type PeerCertificate } from "node:tls";
import { dayOf } from "../../contract/calendar.ts";
import { serverLockOf } from "../../db/database-files.ts";
import { orElse } from "../../db/failure.ts";
import { type OpenProcess, processesWith, servicesOf } from "../../db/open-elsewhere.ts";
import { adminCommand } from "../../runtime/program-name.ts";
import { askHealth, healthTimeoutMs } from "../../server/health.ts";
import { ownAddress } from "../../server/listen-address.ts";
import { firstOf } from "../terminal/numbers.ts";
import { broken, type Examined, type Finding, fine, warning } from "./finding.ts";

const maxProcesses = 5;

/** Checks the server on this database, its files and its certificate. Finds nothing if none runs, or the system shows none. */
export async function checkServer({ path, config }: Examined): Promise<Finding[]> {
  // A node of a cluster may replace its file, and the server opens the new one.
  const detached = config?.cluster != null ? [] : findDetached(path);
  const findings = detached.map(({ pid }) => {
    const what = `Process ${pid} uses a database file that was deleted, moved, or replaced: its writes are lost.`;
    const advice = `Restart it. If the file is gone, restore a backup first: ${adminCommand} restore FILE`;
    return broken("server", what, advice);
  });
  findings.push(...checkPrograms(path));
  const url = config === null ? null : ownAddress(config);
  if (config === null || url === null) return findings;
  const health = await askHealth(url);
  if (detached.length === 0 && health === "failing") {
    const advice = "See its log for the reason, then restart it.";
    findings.push(broken("server", `The server at ${url} cannot read its database.`, advice));
  }
  if (detached.length === 0 && health === "fine") findings.push(fine("server", `The server responds at ${url}.`));
  if (health !== "nobody" && config.tls !== null) findings.push(...(await checkCertificate(url, config.tls.cert)));
  return findings;
}

/** Finds a server that was not restarted after its certificate was renewed. */
async function checkCertificate(url: string, inFile: string): Promise<Finding[]> {
  const served = await servedCertificate(new URL(url));
  if (served === null || served.fingerprint256 === new X509Certificate(inFile).fingerprint256) return [];
  const what = `The server still uses a certificate that expires on ${dayOf(Date.parse(served.valid_to))}, but TLS_CERT has another one.`;
  return [warning("tls", what, "Restart the server: it reads the certificate only at start.")];
}

/** Returns null if the server sends none in time. */
function servedCertificate({ hostname, port }: URL): Promise<PeerCertificate | null> {
  const { promise, resolve } = Promise.withResolvers<PeerCertificate | null>();
  const host = hostname.replaceAll(/[[\]]/g, "");
  const socket = connect({ host, port: Number(port || 443), rejectUnauthorized: false, timeout: healthTimeoutMs });
  socket.once("secureConnect", () => resolve(socket.getPeerCertificate()));
  for (const event of ["error", "timeout"]) socket.once(event, () => resolve(null));
  return promise.finally(() => socket.destroy());
}

/** Finds the processes that opened the database at this path, and do not have the file open that is there now. */
function findDetached(path: string): OpenProcess[] {
  const current = statSync(path, { throwIfNoEntry: false });
  const isCurrent = (descriptor: string) => {
    const opened = statSync(descriptor, { throwIfNoEntry: false });
    return opened !== undefined && opened.ino === current?.ino && opened.dev === current.dev;
  };
  const lock = serverLockOf(basename(path));
  return processesWith(path).filter(({ pid, descriptors }) => {
    // The log keeps its name when the file is moved away, and shows that this was the path of the database.
    const files = descriptors.filter((descriptor) => !orElse(() => readlinkSync(descriptor), "").includes(lock));
    return pid !== process.pid && files.length > 0 && !files.some(isCurrent);
  });
}

/** Finds services that were not restarted after an upgrade: they run the old program. */
function checkPrograms(path: string): Finding[] {
  const old = processesWith(path).filter(({ isReplaced }) => isReplaced);
  if (old.length === 0) return [];
  const what = `Process ${firstOf(
    old.map(({ pid }) => String(pid)),
    maxProcesses,
  )} runs a program that was replaced or deleted since it started.`;
  return [warning("server", what, `Restart it: systemctl restart ${servicesOf(old) || "SERVICE"}`)];
}
