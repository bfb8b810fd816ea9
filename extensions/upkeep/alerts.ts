/** Sends each finding of the doctor once when it appears, and once when it ends, in every configured way. */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import type { Finding } from "../../src/cli/doctor/finding.ts";
import { orElse } from "../../src/db/failure.ts";
import type { Alert, Way } from "./ways.ts";

const checkEveryMs = 15 * 60_000;
/** The pause after the first failed alert; each later one is twice as long. */
const minPauseMs = 10_000;

interface Alerting {
  readonly ways: readonly Way[];
  /** Remembers across restarts which alerts were sent. */
  readonly file: string;
  readonly now: () => number;
  /** Waits, and returns true if it is time to end. */
  readonly pause: (ms: number) => Promise<boolean>;
  readonly find: () => Promise<readonly Finding[]>;
  /** Resolves to false if another server sends the alerts about shared findings. */
  readonly sendsSharedAlerts: () => Promise<boolean>;
  readonly onFailure: (way: Way["name"], cause: unknown) => void;
}

/** Alerts by the keys of their findings. */
type Alerts = Map<string, Alert>;
/** The alerts that were sent in each way. */
type Sent = Map<Way["name"], Alerts>;

/** Checks at once and every 15 minutes, and sends what has changed. Pauses for less time after a failure. */
export async function keepAlerting({
  ways,
  file,
  now,
  pause,
  find,
  sendsSharedAlerts,
  onFailure,
}: Alerting): Promise<void> {
  const sent = recall(file, ways);
  let current: Alerts = new Map([...sent.values()].flatMap((alerts) => [...alerts]));
  let [waitMs, pauseMs] = [checkEveryMs, minPauseMs];
  do {
    const [findings, isSender] = await Promise.all([find(), sendsSharedAlerts()]);
    const isElsewhere = (finding: Finding) => finding.isShared === true && !isSender;
    const elsewhere = new Set(findings.filter(isElsewhere).map(keyOf));
    const here = findings.filter((finding) => !isElsewhere(finding));
    current = alertsOf(here, current, now());
    const failures = await Promise.all(ways.map((way) => sendChanges(way, current, elsewhere, { file, sent })));
    for (const [index, cause] of failures.entries()) {
      const way = ways[index];
      if (cause !== null && way !== undefined) onFailure(way.name, cause);
    }
    if (failures.every((cause) => cause === null)) [waitMs, pauseMs] = [checkEveryMs, minPauseMs];
    else [waitMs, pauseMs] = [pauseMs, Math.min(pauseMs * 2, checkEveryMs)];
  } while (!(await pause(waitMs)));
}

/** Returns the alerts for the findings of a check. One that was there before stays as it appeared. */
function alertsOf(findings: readonly Finding[], before: Alerts, nowMs: number): Alerts {
  const since = new Date(nowMs).toISOString();
  const problems = findings.filter(({ level }) => level !== "fine");
  return new Map(
    problems.map((finding) => {
      const { level, what, advice } = finding;
      return [keyOf(finding), before.get(keyOf(finding)) ?? { level, what, advice, since }];
    }),
  );
}

/** Sends each alert that appeared or ended since the last ones, and remembers each at once. Returns the failure, or null. */
async function sendChanges(
  { name, send }: Way,
  current: Alerts,
  elsewhere: ReadonlySet<string>,
  { file, sent }: { readonly file: string; readonly sent: Sent },
): Promise<unknown> {
  const alerts: Alerts = sent.get(name) ?? new Map();
  try {
    for (const [key, alert] of current) {
      if (alerts.has(key)) continue;
      await send("firing", alert);
      remember(file, sent.set(name, alerts.set(key, alert)));
    }
    for (const [key, alert] of alerts) {
      if (current.has(key)) continue;
      // Another server has taken over, and sends the resolution of this alert.
      if (!elsewhere.has(key)) await send("resolved", alert);
      alerts.delete(key);
      remember(file, sent);
    }
    return null;
  } catch (cause) {
    return cause;
  }
}

/**
 * Identifies a finding. Numbers in its text, such as free space or a date, change while it lasts, and with them their units.
 * Digits of a name, such as of a folder or a node, do not.
 */
function keyOf({ level, thing, what }: Finding): string {
  return `${level} ${thing} ${what.replaceAll(/(?<![^\s(])\d[\d.,:TZ-]*(?: (?:[kMGT]B|bytes|files?)\b)?/g, "#")}`;
}

/** Returns the alerts that were sent before. If the file is missing or damaged, each current finding is sent again. */
function recall(file: string, ways: readonly Way[]): Sent {
  const stored: unknown = orElse(() => JSON.parse(readFileSync(file, "utf8")), null);
  return new Map(ways.map(({ name }) => [name, alertsIn(Object(Object(stored)[name]))]));
}

/** Another program may have written the file. */
function alertsIn(stored: Readonly<Record<string, unknown>>): Alerts {
  const isAlert = (entry: [string, unknown]): entry is [string, Alert] => typeof Object(entry[1]).what === "string";
  return new Map(Object.entries(stored).filter(isAlert));
}

/** Stores the alerts that were sent. If that fails, as on a full disk, they are known until the process ends. */
function remember(file: string, sent: Sent): void {
  const stored = Object.fromEntries([...sent].map(([name, alerts]) => [name, Object.fromEntries(alerts)]));
  try {
    writeFileSync(`${file}.draft`, JSON.stringify(stored), { mode: 0o600 });
    renameSync(`${file}.draft`, file);
  } catch {
    // The alert was sent, which matters more.
  }
}
