/** The pages at /docs and /docs/try, and that of `bun admin stats --html`, in a real browser. */
import { expect } from "bun:test";
import { join } from "node:path";
import { errorCodes } from "../../src/contract/errors.ts";
import { anAdmin } from "../support/admin.ts";
import { aLead } from "../support/builders.ts";
import { eventually } from "../support/eventually.ts";
import { serve } from "../support/harness.ts";
import { desktop, expectSound, inBrowser, look, phone } from "./browser.ts";

inBrowser(
  "/docs has no complaint, no finding, and no scrolling sideways, and its copy buttons copy programs unchanged and cover none",
  async () => {
    const { url } = await serve();
    const looking = await look(`${url}/docs`);
    await expectSound(looking);
    const { page } = looking;
    // A response is next to the fields that it has, where both fit.
    await page.setViewportSize(desktop);
    const [fields, sample] = [
      page.locator("tr#fields-of-a-lead-id"),
      page.locator("#fields-of-a-lead ~ .with-sample .code"),
    ];
    const [left, right] = [await fields.boundingBox(), await sample.first().boundingBox()];
    expect(right?.x).toBeGreaterThan((left?.x ?? 0) + (left?.width ?? 0));
    expect(Math.abs((right?.y ?? 0) - (left?.y ?? 0))).toBeLessThan(40);
    await page.setViewportSize(phone);
    const labels = await page.evaluate<string>(
      `getComputedStyle(document.querySelector("#parameters-limit td"), "::before").content`,
    );
    expect(labels).toBe('"parameter"');
    const blocks = await page.locator(".code:visible").all();
    expect(blocks.length).toBeGreaterThan(2);
    for (const block of blocks) {
      const [button, program] = [await block.locator(".copy").boundingBox(), await block.locator("code").boundingBox()];
      expect(program?.y).toBeGreaterThanOrEqual((button?.y ?? 0) + (button?.height ?? 0));
    }
  },
);

inBrowser(
  "/docs/try has none either after a request, shows no choice among one, and keeps the key only in its field",
  async () => {
    const { url, aKey } = await serve({ leads: [aLead({ name: "Dana Whitfield" })] });
    const looking = await look(`${url}/docs/try`);
    const { page } = looking;
    const key = aKey();
    await page.getByLabel("API key").fill(key);
    await page.locator(".opblock-summary-control").first().click();
    await page.getByRole("button", { name: "Execute" }).waitFor();
    // The type of a parameter stands apart from its description.
    const gap = `
    const parameter = document.querySelector("tr[data-param-name=before]");
    const type = document.createRange();
    type.selectNodeContents(parameter.querySelector(".parameter__type"));
    const description = parameter.querySelector(".parameters-col_description");
    description.getBoundingClientRect().left - type.getBoundingClientRect().right;
  `;
    // The explorer draws its parts one after the other.
    await eventually(async () => {
      expect(await page.evaluate<number>(gap)).toBeGreaterThan(8);
      for (const text of ["They need JavaScript", "Cancel", "Media type", "No links"]) {
        expect([text, await page.getByText(text, { exact: false }).locator("visible=true").count()]).toEqual([text, 0]);
      }
    }, 10_000);
    await page.getByRole("button", { name: "Execute" }).click();
    const answer = page.locator(".live-responses-table");
    await answer.waitFor();
    await eventually(async () => expect(await answer.textContent()).toContain("Dana Whitfield"), 10_000);
    await expectSound(looking);
    const kept = await page.evaluate<string>(
      "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, document.body.innerText])",
    );
    expect(kept).not.toContain(key);
    await page.reload();
    expect(await page.getByLabel("API key").inputValue()).toBe("");
  },
);

inBrowser(
  "each endpoint of /docs leads to its operation in /docs/try, where the field of the key is in view",
  async () => {
    const { url } = await serve();
    const { page } = await look(`${url}/docs`);
    const links = await page.locator('a[href*="/docs/try#"]').evaluateAll((found) => found.map((link) => link.href));
    expect(links).toHaveLength(3);
    for (const link of links) {
      await page.goto("about:blank");
      await page.goto(link);
      await page.getByRole("button", { name: "Execute" }).waitFor();
      const key = await page.getByLabel("API key").boundingBox();
      expect((key?.y ?? 0) + (key?.height ?? 0)).toBeWithin(0, desktop.height);
    }
  },
);

inBrowser("the docs link of every error opens at its entry", async () => {
  const { url, anonymous } = await serve();
  const { docs } = (await anonymous.get("/leads")).body.error;
  expect(docs).toBe(`${url}/docs#missing_api_key`);
  const { page } = await look(`${url}/docs`);
  for (const code of errorCodes) {
    await page.goto(docs.replace("missing_api_key", code));
    const entry = page.locator("h3:target");
    expect(await entry.textContent()).toContain(code);
    expect((await entry.boundingBox())?.y).toBeLessThan(desktop.height);
  }
});

inBrowser(
  "the keyboard alone reaches content, languages and code, and shows where it is, in the colors of the system as well",
  async () => {
    const { url } = await serve();
    const { page } = await look(`${url}/docs`);
    const focused = () =>
      page.evaluate<{ text: string; id: string; outline: string }>(`(() => {
      const element = document.activeElement;
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      return { text: element.textContent.trim(), id: element.id, outline: outlineStyle + " " + outlineWidth };
    })()`);
    await page.keyboard.press("Tab");
    expect(await focused()).toMatchObject({ text: "Skip to the content", outline: "solid 3px" });
    expect((await page.locator(".skip").boundingBox())?.y).toBe(0);
    await page.keyboard.press("Enter");
    expect((await focused()).id).toBe("content");
    await page.keyboard.press("Tab");
    expect((await focused()).id).toBe("first-request-sh");
    await page.keyboard.press("ArrowRight");
    expect((await focused()).id).toBe("first-request-ts");
    // A choice of the language is one for all programs of the page.
    expect(await page.locator("#polling-ts").isChecked()).toBe(true);
    expect(await page.locator(".tabs [data-language=ts]").first().isVisible()).toBe(true);
    expect(await page.locator(".tabs [data-language=sh]").first().isVisible()).toBe(false);
    await page.keyboard.press("Tab");
    expect(await focused()).toMatchObject({ outline: "solid 3px", text: expect.stringContaining("await fetch") });
    // Without colors of the page, an underline is all that marks the chosen language.
    await page.emulateMedia({ forcedColors: "active" });
    const lines = await page.evaluate<string[]>(`
    [...document.querySelectorAll("input[name=paging] + label")].map((name) => getComputedStyle(name).textDecorationLine);
  `);
    expect(lines).toEqual(["none", "underline", "none"]);
  },
);

inBrowser("the search finds headings, codes, parameters, and fields, and the language is remembered", async () => {
  const { url } = await serve();
  const { page } = await look(`${url}/docs`);
  const found = () => page.locator("#contents a").allTextContents();
  const all = (await found()).length;
  await page.keyboard.press("Control+k");
  expect(await page.evaluate<string>("document.activeElement.type")).toBe("search");
  await page.locator("h1").click();
  await page.keyboard.press("/");
  for (const [text, expected] of [
    ["rate limit", "rate_limit_exceeded"],
    ["polling", "Polling"],
    ["has_em", "has_email · Parameters"],
    ["net worth", "net_worth · Fields of a lead"],
  ] as const) {
    await page.getByRole("searchbox").fill(text);
    expect(await found()).toContain(expected);
    expect((await found()).length).toBeLessThan(5);
  }
  await page.keyboard.press("Enter");
  expect(page.url()).toEndWith("#fields-of-a-lead-net_worth");
  await page.keyboard.press("Escape");
  expect(await found()).toHaveLength(all);
  await page.locator("label[for=polling-go]").click();
  await page.reload();
  expect(await page.locator("#polling-go").isChecked()).toBe(true);
  // Every heading has a link to itself.
  const anchors = await page.evaluate<number>(`document.querySelectorAll("main :is(h2, h3) > a.anchor").length`);
  expect(anchors).toBe(all);
});

inBrowser(
  "without JavaScript the page reads the same, its languages can be chosen, and the explorer says why it is empty",
  async () => {
    const { url } = await serve();
    const { page, complaints } = await look(`${url}/docs`, phone, false);
    await page.locator("label[for=paging-python]").click();
    const shown = page.locator("[data-language=python]:visible");
    const conveniences = page.locator(".copy, .search");
    expect([await shown.isVisible(), await conveniences.count(), complaints]).toEqual([true, 0, []]);
    for (const code of errorCodes) expect(await page.locator(`#${code}`).isVisible()).toBe(true);
    await page.goto(`${url}/docs/try`);
    expect(await page.getByText("They need JavaScript").isVisible()).toBe(true);
  },
);

inBrowser("the page of bun admin stats --html is accessible, and does not scroll sideways", async () => {
  const name = `${"Harbor&Pine".repeat(8)} 株式会社`;
  const admin = anAdmin([name]);
  const yesterday = new Date(Date.now() - 86_400_000).toISOString();
  const rows = ["px_shop", "p".repeat(90)].map((pixel, n) => `a${n}@example.com,${yesterday},${pixel},CA,news\n`);
  const leads = admin.put("leads.csv", `email,identified_at,pixel_id,state,traffic_source\n${rows.join("")}`);
  const file = join(admin.folder, "stats.html");
  await admin.run("lead", "import", name, leads, "--create-pixels");
  await admin.run("stats", name, "--html", file);
  await expectSound(await look(`file://${file}`));
});
