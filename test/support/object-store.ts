/** A real S3 server on a folder, whose subfolders are the buckets. */
import { until } from "./eventually.ts";
import { aFreePort } from "./free-port.ts";

/** The program; null if it is not installed. */
export const gateway = Bun.which("versitygw");

/** Serves a folder, and gives the environment in which backups reach it. */
export async function serveFolder(folder: string) {
  const port = await aFreePort();
  const child = Bun.spawn([gateway ?? "", "--port", `127.0.0.1:${port}`, "--quiet", "posix", folder], {
    env: { ROOT_ACCESS_KEY: "key", ROOT_SECRET_KEY: "a $ecret & key" },
    stdout: "ignore",
    stderr: "ignore",
  });
  const url = `http://127.0.0.1:${port}`;
  await until(async () => (await fetch(url).catch(() => null)) !== null);
  const environment = {
    AWS_ENDPOINT_URL: url,
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "key",
    AWS_SECRET_ACCESS_KEY: "a $ecret & key",
  };
  return { environment, child };
}
