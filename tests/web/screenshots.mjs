// node screenshots.mjs RUNS OUT: report.png (light), report-dark.png, compare.png. Called by tools/screenshots.sh.
import {mkdtempSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {join, resolve} from "node:path";
import {chromium} from "playwright-core";

const [runs, out] = process.argv.slice(2).map((p) => resolve(p));
const profile = mkdtempSync(join(tmpdir(), "ff-shot-"));
const context = await chromium.launchPersistentContext(profile, {
  executablePath: process.env.FF_CHROMIUM ?? "/usr/bin/chromium", viewport: {width: 1440, height: 1220}, deviceScaleFactor: 1.5,
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"],
});
async function shoot(file, name, colorScheme, height) {
  const page = await context.newPage();
  await page.setViewportSize({width: 1440, height});
  await page.emulateMedia({colorScheme});
  await page.goto(`file://${join(runs, file)}`);
  await page.waitForSelector("html[data-ready=true]");
  for (let i = 0; i < 200 && (await page.evaluate(() => window.freefloat.frames())) < 1; i++) await page.waitForTimeout(50);
  await page.waitForTimeout(500);
  await page.screenshot({path: join(out, name)});
  await page.close();
  console.log(join(out, name));
}
await shoot("run/report.html", "report.png", "light", 1560);
await shoot("run/report.html", "report-dark.png", "dark", 1000);
await shoot("compare/report.html", "compare.png", "light", 1560);
await context.close();
rmSync(profile, {recursive: true, force: true});
