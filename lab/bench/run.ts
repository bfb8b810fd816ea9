/** bun run bench: Leadfile side by side with what a user would pick instead. */
import { labCommand, readCount } from "../commands.ts";
import { note } from "../progress.ts";
import { checkAnswers } from "./check.ts";
import { prepareData } from "./data.ts";
import { measure, type Options } from "./measure.ts";
import { report } from "./report.ts";

const options = labCommand("bun run bench", "Compares Leadfile with what a user would pick instead.")
  .option("--leads <n>", "leads in the file", readCount, 1_000_000)
  .option("--rounds <n>", "interleaved rounds, of which the median counts", readCount, 3)
  .option("--seconds <n>", "length of each measurement", readCount, 4)
  .option("--import", "also while another process imports")
  .option("--check", "only assert that all servers give equal answers")
  .option("--json", "print all measurements as one JSON value")
  .parse()
  .opts<Options & { readonly check?: true; readonly json?: true }>();

if (!options.check && Bun.which("wrk") === null) throw new Error("wrk is not installed");
const data = await prepareData(options.leads);
note(`${await checkAnswers(data)} questions, equal answers: Leadfile and Hono.`);
if (!options.check) {
  const samples = await measure(options, data);
  process.stdout.write(options.json ? `${JSON.stringify(samples)}\n` : report(samples));
}
