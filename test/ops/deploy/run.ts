/** A program of this machine, run to its end. */

export function run(...command: readonly string[]) {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], { stdin: "ignore" });
  return { status: exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
}
