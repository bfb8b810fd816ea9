/** bun admin alert: sends one alert in every configured way, and says what happened. */
import { hostname } from "node:os";
import { type AnyCommand, type CommandContext, jsonCommand } from "../../src/cli/command.ts";
import { innermost } from "../../src/db/failure.ts";
import { UserError } from "../../src/runtime/user-error.ts";
import { type Alert, readWays, type Way } from "./ways.ts";

/** The command `alert test`. It throws a UserError if no way is configured, and ends with 1 if a way failed. */
export function testCommand(context: CommandContext): AnyCommand {
  return jsonCommand("test", ["alert test"])
    .description("send a test alert to ALERT_URL and ALERT_MAIL_TO, and print what each answered")
    .action(async () => {
      const ways = readWays();
      if (ways.length === 0) {
        const advice = "Set ALERT_URL, or ALERT_MAIL_TO and SMTP_URL.";
        throw new UserError("No way to send alerts is configured.", advice, 2);
      }
      const what = `This is a test alert of Leadfile on ${hostname()}.`;
      await sendAll(context, ways, { level: "warning", what, advice: "No action is needed." });
    });
}

/** For leadfile-failure@.service, which systemd starts when a unit has failed. Without a way, it does nothing. */
export function unitCommand(context: CommandContext): AnyCommand {
  return jsonCommand("unit", ["alert unit leadfile.service"])
    .description("send an alert that a systemd unit failed")
    .argument("<NAME>", "name of the unit")
    .action(async (name: string) => {
      const advice = `To see the reason, run: journalctl -u ${name}`;
      await sendAll(context, readWays(), { level: "broken", what: `The unit ${name} failed.`, advice });
    });
}

async function sendAll(context: CommandContext, ways: readonly Way[], alert: Omit<Alert, "since">): Promise<void> {
  const since = new Date(context.now()).toISOString();
  const sent = await Promise.all(ways.map((way) => attempt(way, { ...alert, since })));
  const lines = sent.map(({ way, ok, answer }) => `${way}: ${ok ? "sent" : "failed"} (${answer})`);
  context.output.result(sent, lines.join("\n"));
  if (sent.some(({ ok }) => !ok)) context.setExitStatus(1);
}

async function attempt({ name, send }: Way, alert: Alert) {
  try {
    return { way: name, ok: true, answer: await send("firing", alert) };
  } catch (cause) {
    return { way: name, ok: false, answer: innermost(cause) };
  }
}
