// What the tests of the live page share: Chromium, checks, waiting.
import {mkdtempSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {chromium} from "playwright-core";

export async function launch(options = {}) {
  const profile = mkdtempSync(join(tmpdir(), "ff-live-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.FF_CHROMIUM ?? "/usr/bin/chromium", viewport: {width: 1280, height: 900}, ...options,
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"],
  });
  return {context, end: async () => {
    await context.close();
    rmSync(profile, {recursive: true, force: true});
  }};
}

/** Waits until a function of the page is true (playwright's own waiting needs eval, which the policy forbids). */
export async function until(page, condition, argument, seconds = 40) {
  for (let i = 0; i < 20 * seconds; i++) {
    if (await page.evaluate(condition, argument)) return;
    await page.waitForTimeout(50);
  }
  throw new Error(`never true: ${condition}`);
}
