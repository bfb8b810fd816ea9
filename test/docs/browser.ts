/** A real browser on the pages; each test that uses it is skipped where there is none, and says so. */
import { afterAll, expect, onTestFinished } from "bun:test";
import axe, { type AxeResults } from "axe-core";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { eventually } from "../support/eventually.ts";
import { unless } from "../support/needing.ts";

const executable = Bun.which("chromium") ?? Bun.which("chromium-browser") ?? Bun.which("google-chrome");

/** Makes tests that use a browser. */
export const inBrowser = unless(executable === null ? "no chromium here" : null);

export const desktop = { width: 1280, height: 900 };
export const phone = { width: 375, height: 740 };

interface Looking {
  readonly page: Page;
  /** Errors and warnings of the console, and requests to other hosts: what no page of ours may have. */
  readonly complaints: string[];
}

let launched: Promise<Browser> | null = null;
// Where it runs after each file of a process, the next file starts a browser of its own.
afterAll(async () => {
  const browser = await launched;
  launched = window = null;
  await browser?.close();
});

function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: executable ?? "",
    timeout: 0,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
  });
}

/** The window with the one page of all tests with scripts: to open another costs more than to load an address. */
let window: Promise<BrowserContext> | null = null;

async function openWindow(javaScriptEnabled: boolean): Promise<BrowserContext> {
  const browser = await (launched ??= launch());
  const context = await browser.newContext({ javaScriptEnabled });
  // The time of the test is the only limit: the first start of a browser reads much from the disk.
  context.setDefaultTimeout(0);
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  return context;
}

/** Opens an address the way a reader with such a screen does. */
export async function look(url: string, viewport = desktop, javaScriptEnabled = true): Promise<Looking> {
  const context = await (javaScriptEnabled ? (window ??= openWindow(true)) : openWindow(false));
  const page = context.pages()[0] ?? (await context.newPage());
  if (!javaScriptEnabled) onTestFinished(() => context.close());
  await page.emulateMedia({ colorScheme: null, forcedColors: null });
  await page.setViewportSize(viewport);
  // Nothing of the page before may complain here, whose server has stopped.
  await page.goto("about:blank");
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

/** Checks that a page has no complaint, no finding of axe, and no scrolling sideways, in both colors and on both screens. */
export async function expectSound({ page, complaints }: Looking): Promise<void> {
  await page.evaluate(axe.source);
  for (const [colorScheme, viewport] of [
    ["light", desktop],
    ["dark", phone],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize(viewport);
    // The new colors and sizes come some frames later.
    await eventually(async () => {
      const { violations } = await page.evaluate<AxeResults>('axe.run({ resultTypes: ["violations"] })');
      const findings = violations.map(({ id, nodes }) => `${id}: ${nodes.flatMap(({ target }) => target).join(", ")}`);
      const overflow = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
      const found = { colorScheme, findings, overflow, complaints };
      expect(found).toEqual({ colorScheme, findings: [], overflow: 0, complaints: [] });
    }, 10_000);
  }
}
