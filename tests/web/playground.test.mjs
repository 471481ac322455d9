// The playground in a real browser: node playground.test.mjs SCRATCH [SCREENS]
import assert from "node:assert/strict";
import {execFileSync, spawnSync} from "node:child_process";
import {mkdirSync, readFileSync, writeFileSync} from "node:fs";
import {join, resolve} from "node:path";
import {checks, closePages, findings, launch, until, watched} from "./browser.mjs";

const [scratch, screens] = process.argv.slice(2).map((p) => resolve(p));
const freefloat = resolve(process.env.FREEFLOAT);
const METHODS = ["ideal", "direct", "tdpa", "damping", "impact", "fused"];
const {context, end} = await launch();
const {check, finish} = checks(() => closePages(context));

/** A page with its first results; nothing but the file itself and its own workers may be asked for. */
async function open(options = {}, hash = "") {
  const page = await watched(context, options);
  page.on("request", (r) => !/^(file|blob):/.test(r.url()) && page.troubles.push(`request: ${r.url().slice(0, 100)}`));
  if (options.motion) await page.emulateMedia({reducedMotion: options.motion});
  if (options.before) await page.addInitScript(options.before);
  await page.goto(`file://${join(scratch, "playground.html")}${hash}`);
  if (!options.unready) await page.waitForSelector("html[data-ready=true]");
  return page;
}
const settled = (page, batches) => until(page, (n) => window.freefloat.batches() >= n && !window.freefloat.busy(), batches);
const batches = (page) => page.evaluate(() => window.freefloat.batches());

/** Numbers that differ by more than 1e-12 of their size, as paths. */
function differences(a, b, path = "") {
  if (/^\/(timing|wall_s|version)/.test(path)) return []; // no two runs have the same
  if (typeof a === "number" && typeof b === "number") return Math.abs(a - b) <= 1e-12 * Math.max(Math.abs(a), Math.abs(b)) ? [] : [`${path}: ${a} ${b}`];
  if (a && b && typeof a === "object" && typeof b === "object") return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((k) => differences(a[k], b[k], `${path}/${k}`));
  return a === b ? [] : [`${path}: ${a} ${b}`];
}

/** The text as the program runs it here. */
function native(name, text) {
  const folder = join(scratch, name);
  mkdirSync(folder, {recursive: true});
  writeFileSync(join(folder, "scenario.yaml"), text);
  execFileSync(freefloat, ["compare", "scenario.yaml", "--methods", METHODS.join(","), "--out", "out", "--quiet"], {cwd: folder});
  return (method, file) => readFileSync(join(folder, "out", method, file), "utf8");
}

await check("every slider writes its own number into the text, and six methods give what the program gives here, to 1e-12", async () => {
  const page = await open({scene: false});
  await settled(page, 1); // a batch that another one replaces is not counted
  const keys = Object.fromEntries([["delay", "delay: "], ["stiffness", "stiffness: "], ["damping", "damping: "], ["mass", "mass: "], ["speed", "velocity: \\["], ["noise", "force_noise: "], ["cycle", "cycle: "]].map(([key, name]) => [key, new RegExp(`\\b${name}[\\d.]+`)]));
  for (const [key, pattern] of Object.entries(keys)) {
    const [before, after] = await page.evaluate((k) => {
      const text = window.freefloat.text();
      const input = document.getElementById(`knob-${k}`);
      input.value = String(Number(input.value) < 0.5 ? Number(input.value) + 0.11 : Number(input.value) - 0.11);
      input.dispatchEvent(new Event("input"));
      return [text, window.freefloat.text()];
    }, key);
    assert.notEqual(before, after, `${key} changes nothing`);
    assert.equal(before.replace(pattern, ""), after.replace(pattern, ""), `${key} changes something else`);
  }
  await settled(page, 2);
  const text = await page.evaluate(() => window.freefloat.text());
  const result = native("sliders", text);
  for (const method of METHODS) {
    const here = await page.evaluate((m) => window.freefloat.summary(m), method);
    assert.deepEqual(differences(here, JSON.parse(result(method, "summary.json"))), [], method);
  }
  // The numbers on a card are those of its summary, and omega tau follows from the text.
  const [limits, shown] = await page.evaluate(() => [window.freefloat.limits(), document.querySelector('[data-method="direct"] [data-figure="restitution"] dd').firstChild.textContent]);
  const value = (name) => Number(new RegExp(`${name}: \\[?([\\d.e+-]+)`).exec(text)[1]);
  assert.ok(Math.abs(limits[0] - Math.sqrt(value("stiffness") / value("mass")) * value("delay")) < 1e-9, `omega tau ${limits[0]}`);
  const first = JSON.parse(result("direct", "summary.json")).satellites.client.contacts[0].restitution;
  assert.ok(Math.abs(Number(shown) - first) <= 0.005 * first, `${shown}, not ${first}`);
  // True restitution and damping are two faces of one number.
  const counted = await batches(page); // before: a batch may be over when it is asked
  await page.evaluate(() => {
    const input = document.getElementById("knob-restitution");
    input.value = "0.5";
    input.dispatchEvent(new Event("input"));
  });
  await settled(page, counted + 1);
  const ideal = await page.evaluate(() => window.freefloat.summary("ideal").satellites.client.contacts[0].restitution);
  assert.ok(Math.abs(ideal - 0.65) < 1e-3, `asked for .65, the ideal contact has ${ideal}`);
  assert.deepEqual(page.troubles, []);
});

await check("several contacts: every row of the page is the row of log.csv, to 1e-12", async () => {
  const page = await open({scene: false});
  const before = await batches(page);
  await page.selectOption("#preset", "1");
  await settled(page, before + 1);
  const result = native("rows", await page.evaluate(() => window.freefloat.text()));
  for (const method of METHODS) {
    const [head, ...lines] = result(method, "log.csv").trimEnd().split("\n");
    const names = head.split(",");
    const at = names.indexOf("client.velocity.z [m/s]");
    const rows = await page.evaluate((m) => window.freefloat.values(m, "client.velocity.z"), method);
    assert.equal(rows.length, lines.length, method);
    const worst = Math.max(...lines.map((l, i) => Math.abs(Number(l.split(",")[at]) - rows[i])));
    assert.ok(worst <= 1e-12, `${method}: ${worst}`);
  }
});

await check("the editor says what freefloat check says, with line and column; nothing of a text is ever run", async () => {
  const page = await open({scene: false});
  const good = await page.evaluate(() => window.freefloat.text());
  const write = async (text) => {
    await page.locator("#scenario").fill(text);
    await page.locator("#scenario").dispatchEvent("input");
  };
  const said = () => page.locator("#mistakes p .over").allInnerTexts();
  const bad = good.replace("stiffness: 4000", "stifness: 4000").replace("mass: 100", "mass: -100");
  mkdirSync(join(scratch, "check"), {recursive: true});
  writeFileSync(join(scratch, "check", "scenario.yaml"), bad);
  const expected = spawnSync(freefloat, ["check", "scenario.yaml"], {cwd: join(scratch, "check"), encoding: "utf8"}).stderr;
  await write(bad);
  await until(page, () => document.querySelectorAll("#mistakes p .over").length === 2);
  // the terminal's lines are broken at 80 columns, the page's are not
  assert.equal((await said()).join(" ").replace(/\s+/g, " "), expected.replace(/\s+/g, " ").trim());
  assert.ok((await said()).some((line) => line.includes("did you mean 'stiffness'?")));
  await page.locator("#mistakes button").first().click();
  const caret = await page.evaluate(() => [document.activeElement.id, document.activeElement.selectionStart]);
  assert.deepEqual(caret, ["scenario", bad.indexOf("-100")]);
  // A bomb, too deep a text, a hostile name.
  await write(`a: &a [1,1]\nb: &b [*a,*a]\nc: [*b,*b]\n`);
  await until(page, () => /alias|anchor/.test(document.getElementById("mistakes").textContent));
  await write("[".repeat(5000));
  await until(page, () => document.querySelectorAll("#mistakes p .over").length > 0);
  const count = await batches(page);
  await write(good.replace("name: wall-40ms", "name: \"<img src=x onerror=alert(1)>\"").replaceAll("client", "'<b>x</b>'"));
  await until(page, () => /valid|:/.test(document.getElementById("mistakes").textContent));
  assert.equal(await page.locator("main img, main b:not(.limit-words b)").count(), 0);
  await write(good);
  await settled(page, count + 1);
  assert.deepEqual(page.troubles, []);
});

await check("a link holds the scenario and the time; a damaged one is a line", async () => {
  const page = await open({scene: false, motion: "reduce"});
  assert.equal(await page.evaluate(() => window.freefloat.playing()), false, "moves although motion is unwanted");
  await page.evaluate(() => {
    const input = document.getElementById("knob-delay");
    input.value = "0.7";
    input.dispatchEvent(new Event("input"));
    window.freefloat.seek(1.25);
  });
  await page.getByRole("button", {name: "Copy link"}).click();
  await until(page, () => location.hash.startsWith("#s="));
  const [text, hash] = await page.evaluate(() => [window.freefloat.text(), location.hash]);
  assert.match(text, /delay: 0\.07/);
  const other = await open({scene: false}, hash);
  assert.deepEqual(await other.evaluate(() => [window.freefloat.text(), window.freefloat.time()]), [text, 1.25]);
  const damaged = await open({scene: false}, "#s=AAAA");
  assert.match(await damaged.locator(".desk").innerText(), /The link holds no scenario/);
  assert.deepEqual([...page.troubles, ...other.troubles, ...damaged.troubles], []);
});

await check("without WebGL numbers and plots stay; without WebAssembly one line says so", async () => {
  const page = await open({scene: false});
  assert.equal(await page.evaluate(() => window.freefloat.scenes()), 0);
  await until(page, () => document.querySelectorAll("#plots canvas").length === 3);
  const bare = await open({scene: false, unready: true, before: () => delete window.WebAssembly});
  await bare.waitForSelector(".failure");
  assert.match(await bare.locator(".failure").innerText(), /WebAssembly.*report\.html/);
});

await check("by keyboard alone; six pictures on one clock that turn together", async () => {
  const page = await open({motion: "reduce"});
  await page.locator("#knob-delay").focus();
  const before = await batches(page);
  await page.keyboard.press("ArrowRight");
  await settled(page, before + 1);
  assert.match(await page.evaluate(() => window.freefloat.text()), /delay: 0\.0405/);
  await page.locator("h1").evaluate(() => document.activeElement.blur());
  await page.keyboard.press("Shift+ArrowRight");
  assert.ok(Math.abs((await page.evaluate(() => window.freefloat.time())) - 0.04) < 1e-9);
  await page.keyboard.press(" ");
  assert.equal(await page.evaluate(() => window.freefloat.playing()), true);
  await page.keyboard.press(" ");
  await until(page, () => window.freefloat.scenes() === 6);
  await page.evaluate(() => window.freefloat.seek(2.5));
  const pictures = () => page.evaluate((methods) => methods.map((m) => window.freefloat.picture(m)), METHODS);
  const first = await pictures();
  assert.notEqual(first[0], first[1], "direct shows what ideal shows");
  await page.locator('[data-method="direct"] .scene').focus();
  await page.keyboard.press("Shift+ArrowLeft");
  const second = await pictures();
  second.forEach((picture, i) => assert.notEqual(picture, first[i], `${METHODS[i]} did not turn`));
  if (screens) await page.screenshot({path: join(screens, "playground.png")});
  // The laboratory, from the same runs: now with the robots' axes, and the results are the same.
  const results = () => page.evaluate((methods) => methods.map((m) => JSON.stringify(window.freefloat.summary(m).satellites)), METHODS);
  const orbit = await results();
  const counted = await batches(page);
  await page.selectOption("#side", "lab");
  await settled(page, counted + 1);
  assert.deepEqual(await results(), orbit);
  const axes = await page.evaluate(() => [1, 6].map((k) => window.freefloat.values("fused", `client.robot.axis.${k}.angle`)));
  assert.ok(axes.every((a) => a.length > 100 && a.every(Number.isFinite)), "no axes");
  assert.notEqual((await pictures())[0], second[0]);
  assert.deepEqual(page.troubles, []);
});

await check("narrow, dark, printed: nothing is cut off, and axe finds nothing", async () => {
  const page = await open({scene: false, motion: "reduce"});
  const clean = async (what) => assert.deepEqual(await findings(page), [], what);
  await clean("light");
  await page.emulateMedia({colorScheme: "dark", reducedMotion: "reduce"});
  await until(page, () => document.documentElement.dataset.theme === "dark");
  await clean("dark");
  await page.setViewportSize({width: 420, height: 800});
  await clean("narrow");
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 420, "the page is wider than the screen");
  const touch = await page.locator(".knob input").evaluateAll((all) => Math.min(...all.map((e) => e.getBoundingClientRect().height)));
  assert.ok(touch >= 20, `a slider of ${touch} pixels`);
  const pdf = await page.pdf({format: "A4"});
  assert.ok(pdf.length > 10_000);
  assert.deepEqual(page.troubles, []);
});

await end();
finish();
