/** A server on a file of its own, asked for pages that it has to read, and what a command says that is refused there. */
import { join } from "node:path";
import type { Random } from "../../../random.ts";
import type { Attack } from "../../fault.ts";
import { documentsOf, look, prepareKey } from "../../product/contents.ts";
import { type Ended, type Server, startServer } from "../../product/program.ts";

const leadCount = 1500;
const pageSize = 5;

/** A command that has to write. */
export const makeKeyCommand = ["key", "create", "acme", "--json"];

/** The server and database of one case. */
export interface Scene {
  readonly build: string;
  readonly folder: string;
  readonly file: string;
  readonly secret: string;
  /** As served, newest first. */
  readonly documents: readonly string[];
  readonly server: Server;
  readonly random: Random;
  readonly expect: Attack["expect"];
}

/** Starts a server on a new file with so many leads in the folder. */
export async function aScene(
  build: string,
  folder: string,
  random: Random,
  expect: Attack["expect"],
  leads = leadCount,
): Promise<Scene> {
  const file = join(folder, "leadfile.db");
  const secret = prepareKey(file, leads);
  const documents = look(file, documentsOf).toReversed();
  const server = await startServer(build, file);
  return { build, folder, file, secret, documents, server, random, expect };
}

/** A page from anywhere, so that it is not remembered; whether it failed as it should, and was right if not. */
async function askAnywhere({ server, secret, documents, random, expect }: Scene): Promise<boolean> {
  const start = random.below(documents.length - pageSize);
  const before = (JSON.parse(documents[start] ?? "") as { identified_at: string }).identified_at;
  const response = await fetch(`${server.url}/api/v1/leads?limit=${pageSize}&before=${before}`, {
    headers: { Authorization: `Bearer ${secret}` },
  }).catch(() => null);
  if (response === null) {
    expect(false, () => "a request was not answered");
    return false;
  }
  const text = await response.text();
  if (response.status === 200) {
    const expected = `"data":[${documents.slice(start + 1, start + 1 + pageSize).join(",")}]`;
    expect(text.includes(expected), () => `wrong data: ${text.slice(0, 200)}`);
    return true;
  }
  expect(response.status === 500 && text.includes('"query_failed"'), () => `${response.status} ${text.slice(0, 200)}`);
  return false;
}

/** The number of failed requests. */
export async function askOften(scene: Scene, times: number): Promise<number> {
  let failed = 0;
  for (let ask = 0; ask < times; ask++) {
    if (!(await askAnywhere(scene))) failed++;
    // The look at the file is shared by requests that come close together.
    await Bun.sleep(1);
  }
  return failed;
}

/** No request fails any more, or yet. */
export async function expectAllWell(scene: Scene, when: string): Promise<void> {
  const failed = await askOften(scene, 20);
  scene.expect(failed === 0, () => `${failed} of 20 requests failed ${when}`);
}

/** One clear line, status 1 and no result. */
export function expectRefusal({ expect }: Scene, { status, stdout, stderr }: Ended, says: RegExp): void {
  expect(status === 1, () => `the command ended with ${status}: ${stdout}${stderr}`);
  expect(stdout === "", () => `it printed a result: ${stdout}`);
  expect(says.test(stderr), () => `it said: ${stderr}`);
  expect(!/\n\s+at /.test(stderr), () => `it showed where it failed: ${stderr}`);
}
