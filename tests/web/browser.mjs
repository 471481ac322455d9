// What the tests of the pages share: Chromium, checks, pages that are watched, waiting.
import {mkdtempSync, readFileSync, rmSync} from "node:fs";
import {createRequire} from "node:module";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {chromium} from "playwright-core";

/** frames: the display's own pace, for measurements. */
export async function launch({frames = false, ...options} = {}) {
  const profile = mkdtempSync(join(tmpdir(), "ff-web-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.FF_CHROMIUM ?? "/usr/bin/chromium", viewport: {width: 1280, height: 900}, deviceScaleFactor: 0.25, ...options,
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run", "--disable-features=LocalNetworkAccessChecks"],
  });
  // A display of five frames a second: the pages are drawn by the processor here.
  if (!frames) await context.addInitScript(() => {
    const next = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = (draw) => setTimeout(() => next(draw), 180);
    window.cancelAnimationFrame = clearTimeout;
  });
  context.setDefaultTimeout(180_000); // a busy machine's; nothing waits longer than it has to
  return {context, profile, end: async () => {
    await context.close();
    rmSync(profile, {recursive: true, force: true});
  }};
}

/** Every check prints one line; the first failure of a check is reported, all others still run. FF_ONLY chooses by name.
 * `after` clears up behind each; `finish` reports the result and ends the program with it. */
export function checks(after = async () => {}) {
  let failures = 0;
  const only = process.env.FF_ONLY ? new RegExp(process.env.FF_ONLY) : null;
  const check = async (name, body) => {
    if (only && !only.test(name)) return;
    const since = performance.now();
    const took = () => `(${((performance.now() - since) / 1000).toFixed(1)} s)`;
    try {
      await body();
      console.log(`ok      ${name} ${took()}`);
    } catch (error) {
      failures++;
      console.log(`FAILED  ${name} ${took()}: ${error.message}`);
    }
    await after();
  };
  return {check, finish: () => {
    console.log(failures ? `${failures} checks failed` : "all checks passed");
    process.exit(failures ? 1 : 0);
  }};
}

/** What axe finds fault with in a page, one line for each rule. */
export function findings(page) {
  const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  return page.evaluate(`(async () => { ${axe}; return (await axe.run(document)).violations.map((v) => v.id + ": " + v.nodes.map((n) => n.target.join(" ")).slice(0, 3).join(", ")); })()`);
}

export async function closePages(context) {
  for (const page of context.pages().slice(1)) await page.close();
}

/** A new page; its errors and dialogs are collected in `troubles`, what it asks of the network in `asked`. `scene: false` is a browser
 * without WebGL, which leaves out the picture and most of the work. */
export async function watched(context, options = {}) {
  const page = await context.newPage();
  page.troubles = [];
  page.asked = [];
  page.on("console", (m) => m.type() === "error" && !(options.scene === false && /^THREE.WebGLRenderer:/.test(m.text())) && page.troubles.push(`console: ${m.text()}`));
  page.on("pageerror", (e) => page.troubles.push(`error: ${e.message}`));
  page.on("dialog", (d) => {
    page.troubles.push(`dialog: ${d.message()}`);
    d.dismiss();
  });
  page.on("request", (r) => page.asked.push(r.url()));
  page.on("websocket", (w) => page.asked.push(w.url()));
  if (options.scene === false) await page.addInitScript(() => {
    const {getContext} = HTMLCanvasElement.prototype;
    HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
      return /^webgl/.test(kind) ? null : getContext.call(this, kind, ...more);
    };
  });
  if (options.sharp) {
    const size = {width: 1280, height: 900, deviceScaleFactor: 1, mobile: false}; // a point of the page is a point of its pictures
    await (await context.newCDPSession(page)).send("Emulation.setDeviceMetricsOverride", size);
  }
  if (options.width) await page.setViewportSize({width: options.width, height: options.height ?? 900});
  if (options.scheme) await page.emulateMedia({colorScheme: options.scheme});
  return page;
}

/** A page from a file, once it is ready: a request that leaves the disk is one of its troubles. */
export async function openFile(context, path, options = {}) {
  const page = await watched(context, options);
  page.on("request", (r) => !r.url().startsWith("file:") && page.troubles.push(`request: ${r.url().slice(0, 100)}`));
  await page.goto(`file://${path}`);
  await page.waitForSelector("html[data-ready=true]");
  return page;
}

/** Waits until a function of the page is true. The page itself looks, in one call: each look from here would cost both sides more
 * than what is looked at, and playwright's own waiting needs eval, which the policy forbids. */
export async function until(page, condition, argument = null, seconds = 120) {
  const met = await page.evaluate(`new Promise((done) => {
    const condition = ${condition};
    const since = performance.now();
    const look = () => {
      if (condition(${JSON.stringify(argument)})) done(true);
      else if (performance.now() - since > ${1000 * seconds}) done(false);
      else setTimeout(look, 40);
    };
    look();
  })`);
  if (!met) throw new Error(`never true: ${condition}`);
}
