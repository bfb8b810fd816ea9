/** bun run bench: Leadfile side by side with what a user would pick instead. */
import { readFlags } from "../flags.ts";
import { checkAnswers } from "./check.ts";
import { prepareData } from "./data.ts";
import { measure } from "./measure.ts";
import { note } from "./note.ts";
import { type Options, readOptions, usage } from "./options.ts";
import { report, summarise } from "./report.ts";
import { installPeers, peersFor } from "./servers/contestants.ts";

async function run(options: Options): Promise<void> {
  if (!options.check) await installPeers();
  const data = await prepareData(options.leads);
  const peers = await peersFor(data);
  const questions = await checkAnswers(data, peers);
  const names = ["Leadfile", ...peers.map((peer) => peer.title)].join(", ");
  note(`${questions} questions, equal answers: ${names}.`);
  if (options.check) return;
  const rows = summarise(await measure(options, data, peers));
  process.stdout.write(options.json ? `${JSON.stringify(rows)}\n` : report(rows));
}

const options = readFlags({ command: "bun run bench", usage }, readOptions);
try {
  await run(options);
} catch (cause) {
  note(cause instanceof Error ? cause.message : String(cause));
  process.exitCode = 1;
}
