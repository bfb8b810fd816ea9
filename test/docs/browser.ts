/** A real browser on the pages; each test that uses it is skipped where there is none, and says so. */
import { afterAll, onTestFinished } from "bun:test";
import axe, { type AxeResults } from "axe-core";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { unless } from "../support/needing.ts";

const executable = Bun.which("chromium") ?? Bun.which("chromium-browser") ?? Bun.which("google-chrome");

/** Makes tests that use a browser. */
export const inBrowser = unless(executable === null ? "no chromium here" : null);

interface Looking {
  readonly page: Page;
  /** Errors and warnings of the console, and requests to other hosts: what no page of ours may have. */
  readonly complaints: string[];
}

let launched: Promise<Browser> | null = null;
// Where it runs after each file of a process, the next file starts a browser of its own.
afterAll(async () => {
  const browser = await launched;
  launched = null;
  await browser?.close();
});

function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: executable ?? "",
    timeout: 0,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
  });
}

/** Opens an address the way a reader with such a screen does, in a session of its own. */
export async function look(url: string, options: BrowserContextOptions = {}): Promise<Looking> {
  const browser = await (launched ??= launch());
  const context = await browser.newContext(options);
  // The time of the test is the only limit: the first start of a browser reads much from the disk.
  context.setDefaultTimeout(0);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (/error|warning/.test(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => void complaints.push(error.message));
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol !== "data:" && origin !== new URL(url).origin) complaints.push(`request to ${request.url()}`);
  });
  await page.goto(url, { waitUntil: "networkidle" });
  return { page, complaints };
}

/** The findings of axe, as `rule: places`. */
export async function findings({ page }: Looking): Promise<string[]> {
  await page.evaluate(axe.source);
  const violations = await page.evaluate<AxeResults["violations"]>("axe.run().then(({ violations }) => violations)");
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`);
}

/** By how much the page is wider than its window. */
export const overflow = ({ page }: Looking) =>
  page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
