/** Posts each finding of the doctor to ALERT_URL once when it appears, and once when it ends. */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import type { Finding } from "./cli/doctor/finding.ts";

const checkEveryMs = 15 * 60_000;
const [minPauseMs, maxPauseMs] = [10_000, 15 * 60_000];
const timeoutMs = 10_000;
/** A clock that is set is noticed within this time. */
const lookMs = 60_000;

export interface Alerting {
  readonly url: string;
  /** Remembers across restarts what was posted. */
  readonly file: string;
  readonly now: () => number;
  /** Waits; true if it is time to end. */
  readonly pause: (ms: number) => Promise<boolean>;
  readonly find: () => Promise<readonly Finding[]>;
  readonly onFailure: (cause: unknown) => void;
}

/** A finding that was posted, or is to be posted. */
interface Alert {
  readonly level: string;
  readonly what: string;
  readonly advice: string;
  readonly since: string;
  readonly isPosted: boolean;
  readonly hasEnded: boolean;
}

/** The alerts by their keys. */
export type Alerts = Readonly<Record<string, Alert>>;

/** Checks at once and every 15 minutes, and posts what has changed. Repeats a failed post with growing pauses. */
export async function keepAlerting({ url, file, now, pause, find, onFailure }: Alerting): Promise<void> {
  let alerts = recall(file);
  let checkAtMs = now();
  let postAtMs = now();
  let pauseMs = minPauseMs;
  for (;;) {
    // A clock that was set back must not postpone the next check.
    checkAtMs = Math.min(checkAtMs, now() + checkEveryMs);
    if (now() >= checkAtMs) {
      alerts = merge(alerts, await find(), now());
      checkAtMs = now() + checkEveryMs;
    }
    if (now() >= Math.min(postAtMs, checkAtMs)) {
      try {
        for (const key of dueKeys(alerts)) {
          await post(url, alerts[key]);
          alerts = posted(alerts, key);
          remember(file, alerts);
        }
        [postAtMs, pauseMs] = [now(), minPauseMs];
      } catch (cause) {
        onFailure(cause);
        [postAtMs, pauseMs] = [now() + pauseMs, Math.min(pauseMs * 2, maxPauseMs)];
      }
    }
    const nextMs = dueKeys(alerts).length > 0 ? Math.min(postAtMs, checkAtMs) : checkAtMs;
    if (await pause(Math.min(lookMs, Math.max(0, nextMs - now())))) return;
  }
}

/** What identifies a finding: numbers in its text, such as free space or a date, change while it lasts. */
function keyOf({ level, thing, what }: Finding): string {
  return `${level} ${thing} ${what.replaceAll(/\d[\d.,:TZ-]*/g, "#")}`;
}

/** The alerts after a check. A finding that ends before it was posted is forgotten. */
export function merge(alerts: Alerts, findings: readonly Finding[], nowMs: number): Alerts {
  const found = new Map(findings.filter(({ level }) => level !== "fine").map((finding) => [keyOf(finding), finding]));
  const known = Object.entries(alerts).flatMap(([key, alert]): [string, Alert][] => {
    const lasts = found.has(key);
    if (!lasts && !alert.isPosted) return [];
    return [[key, { ...alert, hasEnded: !lasts }]];
  });
  const isNew = ([key]: readonly [string, Finding]) => !(key in alerts);
  const appeared = [...found].filter(isNew).map(([key, { level, what, advice }]): [string, Alert] => {
    const since = new Date(nowMs).toISOString();
    return [key, { level, what, advice, since, isPosted: false, hasEnded: false }];
  });
  return Object.fromEntries([...known, ...appeared]);
}

function dueKeys(alerts: Alerts): string[] {
  return Object.keys(alerts).filter((key) => alerts[key]?.isPosted === alerts[key]?.hasEnded);
}

function posted(alerts: Alerts, key: string): Alerts {
  const { [key]: alert, ...others } = alerts;
  return alert === undefined || alert.hasEnded ? others : { ...others, [key]: { ...alert, isPosted: true } };
}

async function post(url: string, alert: Alert | undefined): Promise<void> {
  if (alert === undefined) return;
  const { level, what, advice, since, hasEnded } = alert;
  const answer = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ state: hasEnded ? "resolved" : "firing", level, what, advice, since }),
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (!answer.ok) throw new Error(`the answer was ${answer.status}`);
}

function recall(file: string): Alerts {
  try {
    return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
  } catch {
    return {};
  }
}

/** On a full disk it is remembered until the end of the process. */
function remember(file: string, alerts: Alerts): void {
  try {
    writeFileSync(`${file}.draft`, JSON.stringify(alerts), { mode: 0o600 });
    renameSync(`${file}.draft`, file);
  } catch {
    // The alert was posted, which matters more.
  }
}
