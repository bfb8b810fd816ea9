/** The ways in which an alert reaches a person: a POST to ALERT_URL, and a mail to ALERT_MAIL_TO. */
import { hostname } from "node:os";
import type { Finding } from "../../src/cli/doctor/finding.ts";
import { readAlertMail, readAlertUrl } from "../../src/config.ts";
import { isLoopback } from "../../src/runtime/loopback.ts";

/** A finding, and the time at which it appeared. */
export interface Alert extends Pick<Finding, "level" | "what" | "advice"> {
  readonly since: string;
}

export type AlertState = "firing" | "resolved";

/** A way that is configured. */
export interface Way {
  /** The setting that configures it. */
  readonly name: "ALERT_URL" | "ALERT_MAIL_TO";
  /** Sends an alert, and returns the answer of the server. Throws an error that says why it was not accepted. */
  readonly send: (state: AlertState, alert: Alert) => Promise<string>;
}

/** Reads the ways that are configured. Throws a UserError if one of their settings is wrong. */
export function readWays(environment?: Parameters<typeof readAlertUrl>[0]): readonly Way[] {
  const [url, mail] = [readAlertUrl(environment), readAlertMail(environment)];
  return [
    ...(url === null ? [] : [{ name: "ALERT_URL", send: (state, alert) => post(url, state, alert) } satisfies Way]),
    ...(mail === null
      ? []
      : [{ name: "ALERT_MAIL_TO", send: (state, alert) => sendMail(mail, state, alert) } satisfies Way]),
  ];
}

const timeoutMs = 10_000;

/** The addresses of Slack and of servers that take its messages. They refuse a message without a text. */
const slackHook = /^https:\/\/hooks\.slack\.com\/|\/hooks\/|\/slack$/;

async function post(url: string, state: AlertState, alert: Alert): Promise<string> {
  const text = slackHook.test(url) ? { text: `${state} (${alert.level}): ${alert.what} ${alert.advice}` } : {};
  const { ok, status } = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ state, ...alert, ...text }),
    // An alert names files and accounts, which are nothing for a host that another one chooses.
    redirect: "manual",
    signal: AbortSignal.timeout(timeoutMs),
  });
  if (ok) return `the response was ${status}`;
  const isRedirect = status >= 300 && status < 400;
  throw new Error(`the response was ${status}${isRedirect ? ", and redirects are not followed" : ""}`);
}

type Mail = NonNullable<ReturnType<typeof readAlertMail>>;

const maxSubjectLength = 100;

async function sendMail(
  { to, server }: Mail,
  state: AlertState,
  { level, what, advice, since }: Alert,
): Promise<string> {
  const { createTransport } = await import("nodemailer");
  const { username, hostname: host } = new URL(server);
  const user = decodeURIComponent(username);
  const transport = createTransport({
    url: server,
    // A password is sent to another machine only over TLS.
    requireTLS: user !== "" && !isLoopback(host),
    ...{ connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs },
  });
  try {
    const { response } = await transport.sendMail({
      from: { name: "Leadfile", address: user.includes("@") ? user : to },
      to,
      subject: `[leadfile] ${state} (${level}): ${what}`.slice(0, maxSubjectLength),
      text: `${what}\n\n${advice}\n\nState: ${state}\nLevel: ${level}\nSince: ${since}\nMachine: ${hostname()}\n`,
      headers: { "Auto-Submitted": "auto-generated" },
    });
    return response;
  } finally {
    transport.close();
  }
}
