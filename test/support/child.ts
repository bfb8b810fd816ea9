/** A program that a test starts does not outlive it. */
import { onTestFinished } from "bun:test";

/** Ends a program with its test, unless it has ended by itself. */
export function endWithTest(child: Bun.Subprocess, signal: "SIGKILL" | "SIGTERM" = "SIGKILL"): void {
  onTestFinished(async () => {
    if (child.exitCode === null) child.kill(signal);
    await child.exited;
  });
}
