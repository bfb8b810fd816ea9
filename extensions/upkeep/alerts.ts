/** Posts each finding of the doctor to ALERT_URL once when it appears, and once when it ends. */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import type { Finding } from "../../src/cli/doctor/finding.ts";
import { orElse } from "../../src/db/failure.ts";

const checkEveryMs = 15 * 60_000;
/** The pause after the first failed post; each later one is twice as long. */
const minPauseMs = 10_000;
const timeoutMs = 10_000;

interface Alerting {
  readonly url: string;
  /** Remembers across restarts which alerts were posted. */
  readonly file: string;
  readonly now: () => number;
  /** Waits, and returns true if it is time to end. */
  readonly pause: (ms: number) => Promise<boolean>;
  readonly find: () => Promise<readonly Finding[]>;
  readonly onFailure: (cause: unknown) => void;
}

/** A finding, and when it appeared. */
interface Alert extends Pick<Finding, "level" | "what" | "advice"> {
  readonly since: string;
}

/** Alerts by the keys of their findings. */
type Alerts = Map<string, Alert>;

/** Checks at once and every 15 minutes, and posts what has changed. Pauses for less time after a failed post. */
export async function keepAlerting({ url, file, now, pause, find, onFailure }: Alerting): Promise<void> {
  const posted = recall(file);
  let current: Alerts = new Map(posted);
  let [waitMs, pauseMs] = [checkEveryMs, minPauseMs];
  do {
    current = alertsOf(await find(), current, now());
    try {
      await postChanges(url, file, posted, current);
      [waitMs, pauseMs] = [checkEveryMs, minPauseMs];
    } catch (cause) {
      onFailure(cause);
      [waitMs, pauseMs] = [pauseMs, Math.min(pauseMs * 2, checkEveryMs)];
    }
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

/** Posts each alert that appeared or ended since the last posts, and remembers each at once. */
async function postChanges(url: string, file: string, posted: Alerts, current: Alerts): Promise<void> {
  for (const [key, alert] of current) {
    if (posted.has(key)) continue;
    await post(url, "firing", alert);
    remember(file, posted.set(key, alert));
  }
  for (const [key, alert] of posted) {
    if (current.has(key)) continue;
    await post(url, "resolved", alert);
    posted.delete(key);
    remember(file, posted);
  }
}

/**
 * Identifies a finding. Numbers in its text, such as free space or a date, change while it lasts, and with them their units.
 * Digits of a name, such as of a folder or a node, do not.
 */
function keyOf({ level, thing, what }: Finding): string {
  return `${level} ${thing} ${what.replaceAll(/(?<![^\s(])\d[\d.,:TZ-]*(?: (?:[kMGT]B|bytes|files?)\b)?/g, "#")}`;
}

/** The addresses of Slack and of servers that take its messages. They refuse a message without a text. */
const slackHook = /^https:\/\/hooks\.slack\.com\/|\/hooks\/|\/slack$/;

async function post(url: string, state: "firing" | "resolved", alert: Alert): Promise<void> {
  const text = slackHook.test(url) ? { text: `${state} (${alert.level}): ${alert.what} ${alert.advice}` } : {};
  const send = (redirect: "manual" | "follow") =>
    fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ state, ...alert, ...text }),
      redirect,
      signal: AbortSignal.timeout(timeoutMs),
    });
  const first = await send("manual");
  // After any other redirect, the POST becomes a GET without the alert.
  const answer = first.status === 307 || first.status === 308 ? await send("follow") : first;
  if (!answer.ok) throw new Error(`the answer was ${answer.status}`);
}

/**
 * Returns the alerts that were posted before. If the file is missing or damaged, each current finding is posted again.
 */
function recall(file: string): Alerts {
  const entries: readonly [string, Alert | null][] = orElse(
    () => Object.entries(JSON.parse(readFileSync(file, "utf8")) ?? {}),
    [],
  );
  // Another program may have written the file.
  return new Map(entries.filter((entry): entry is [string, Alert] => typeof entry[1]?.what === "string"));
}

/** Stores the alerts that were posted. If that fails, as on a full disk, they are known until the process ends. */
function remember(file: string, alerts: Alerts): void {
  try {
    writeFileSync(`${file}.draft`, JSON.stringify(Object.fromEntries(alerts)), { mode: 0o600 });
    renameSync(`${file}.draft`, file);
  } catch {
    // The alert was posted, which matters more.
  }
}
