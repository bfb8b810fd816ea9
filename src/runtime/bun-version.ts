/** Ends an older Bun with one sentence. bunfig.toml loads this file first: the others use what an older Bun lacks. */
import { engines } from "../../package.json";

if (!Bun.semver.satisfies(Bun.version, engines.bun)) {
  const needed = engines.bun.replace(">=", "");
  process.stderr.write(`Leadfile needs Bun ${needed} or later, and this is Bun ${Bun.version}. Run: bun upgrade\n`);
  process.exit(1);
}
