// node screenshots.mjs RUNS OUT [FREEFLOAT SCENARIO]: report.png (light), report-dark.png, compare.png, and live.png of
// a run in contact. Called by tools/screenshots.sh.
import {spawn} from "node:child_process";
import {mkdtempSync, rmSync} from "node:fs";
import {tmpdir} from "node:os";
import {join, resolve} from "node:path";
import {chromium} from "playwright-core";

const [runs, out, freefloat, scenario] = process.argv.slice(2).map((p) => resolve(p));
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

async function shootLive(name) {
  const child = spawn(freefloat, ["run", scenario, "--live", "127.0.0.1:0", "--control", "--quiet", "--log", "none", "--out", join(runs, "live")], {stdio: ["ignore", "ignore", "pipe"]});
  let said = "";
  child.stderr.on("data", (d) => (said += d));
  while (!/live \S+\n/.test(said)) await new Promise((done) => setTimeout(done, 50));
  const page = await context.newPage();
  await page.setViewportSize({width: 1440, height: 1250});
  await page.emulateMedia({colorScheme: "light"});
  await page.goto(/live (\S+)/.exec(said)[1]);
  const until = async (condition) => {
    for (let i = 0; i < 1200 && !(await page.evaluate(condition)); i++) await page.waitForTimeout(20);
  };
  const ask = (text) => page.evaluate((t) => window.freefloat.ask(t), text);
  await until(() => document.documentElement.dataset.ready === "true" && window.freefloat.connected() && window.freefloat.frames() > 0);
  const pace = (k) => page.selectOption('select[aria-label="Pace"]', String(k));
  await pace(2);
  await until(() => window.freefloat.time() > 12);
  await pace(0.5);
  await until(() => window.freefloat.time() > 13.6);
  await pace(0.1);
  await until(() => window.freefloat.time() > 14.25);
  await pace(0.05);
  await page.waitForTimeout(500);
  await until(() => !document.querySelector(".answer").textContent);
  await page.mouse.move(700, 20); // no chart's cursor
  await page.screenshot({path: join(out, name)});
  await ask("stop");
  await page.close();
  console.log(join(out, name));
}
if (freefloat) await shootLive("live.png");
await context.close();
rmSync(profile, {recursive: true, force: true});
