// node screenshots.mjs RUNS OUT FREEFLOAT SCENARIO: report.png, compare.png (dark), capture.png in orbit and laboratory, map.png of an analysis, and in contact
// live.png of a virtual run and live-rt.png of one on devices. Called by tools/screenshots.sh.
import {spawn} from "node:child_process";
import dgram from "node:dgram";
import {join, resolve} from "node:path";
import {launch, watched} from "./browser.mjs";

const [runs, out, freefloat, scenario] = process.argv.slice(2).map((p) => resolve(p));
const {context, end} = await launch({viewport: {width: 1440, height: 1220}, deviceScaleFactor: 1});
async function shoot(file, name, colorScheme, height, time) {
  const page = await watched(context, {width: 1440, height, scheme: colorScheme});
  await page.goto(`file://${join(runs, file)}`);
  await page.waitForSelector("html[data-ready=true]");
  for (let i = 0; i < 200 && (await page.evaluate(() => window.freefloat.frames?.() ?? 1)) < 1; i++) await page.waitForTimeout(50);
  if (time) await page.evaluate((t) => window.freefloat.seek(t), time);
  await page.waitForTimeout(500);
  await page.screenshot({path: join(out, name)});
  await page.close();
  console.log(join(out, name));
}
const wanted = (name) => new RegExp(process.env.FF_ONLY ?? "").test(name); // FF_ONLY: some of them
if (wanted("report")) await shoot("run/report.html", "report.png", "light", 1560);
if (wanted("compare")) await shoot("compare/report.html", "compare.png", "dark", 1200);
if (wanted("capture")) await shoot("capture/report.html", "capture.png", "light", 860, 33);
if (wanted("map")) await shoot("margin/delay-margin.html", "map.png", "light", 1100);

/** The live page of a program that has just been started. */
async function openLive(child) {
  let said = "";
  child.stderr.on("data", (d) => (said += d));
  while (!/live \S+\n/.test(said)) await new Promise((done) => setTimeout(done, 50));
  const page = await watched(context, {width: 1440, height: 1250, scheme: "light"});
  await page.goto(/live (\S+)/.exec(said)[1]);
  return page;
}

async function shootLive(name) {
  const limits = "{velocity: 0.1, acceleration: 0.5, jerk: 20}"; // wide: the motion is the scenario's; soft walls: a contact of 2.3 s
  const child = spawn(freefloat, ["run", scenario, "--set", `satellites.client.limits=${limits}`, "--set", "contacts.front.stiffness=500", "--set", "contacts.back.stiffness=500", "--live", "127.0.0.1:0", "--control", "--quiet", "--log", "none", "--out", join(runs, "live")], {stdio: ["ignore", "ignore", "pipe"]});
  const page = await openLive(child);
  const until = async (condition) => {
    for (let i = 0; i < 1200 && !(await page.evaluate(condition)); i++) await page.waitForTimeout(20);
  };
  const ask = (text) => page.evaluate((t) => window.freefloat.ask(t), text);
  await until(() => document.documentElement.dataset.ready === "true" && window.freefloat.connected() && window.freefloat.frames() > 0);
  const pace = (k) => page.selectOption('select[aria-label="Pace"]', String(k));
  await pace(2);
  await until(() => window.freefloat.time() > 8.5);
  for (let i = 0; i < 4; i++) { // a slow machine may take its picture too late
    await pace(0.25);
    await until(() => document.querySelector(".word").textContent === "In contact");
    await pace(0.05);
    await page.waitForTimeout(2500);
    await until(() => !document.querySelector(".answer").textContent);
    await page.mouse.move(700, 20); // no chart's cursor
    await page.screenshot({path: join(out, name)});
    if ((await page.evaluate(() => document.querySelector(".word").textContent)) === "In contact") break;
  }
  await Promise.race([ask("stop"), page.waitForTimeout(5000)]);
  await page.close();
  child.kill();
  console.log(join(out, name));
}
if (wanted("live.png")) await shootLive("live.png");

/** The same on devices: a facility beside it, limits that a cell would have. */
async function shootDevices(name) {
  const port = () => new Promise((done) => {
    const s = dgram.createSocket("udp4").bind(0, "127.0.0.1", () => {
      const {port} = s.address();
      s.close(() => done(port));
    });
  });
  const limits = "{box: [0.5, 0.7, 0.8], velocity: 0.3, angular_velocity: 0.5, force: 60, torque: 20, energy: 2, tracking: 0.02, acceleration: 20, jerk: 5000, spike: 40, age: 2, missed: 200}";
  const common = [scenario, "--set", "time.cycle=0.012", "--set", `satellites.client.safety=${limits}`, "--set", "contacts.front.stiffness=40", "--set", "contacts.back.stiffness=40", "--rsi-port", await port(), "--ati-port", await port(), "--http-port", await port()].map(String);
  const facility = spawn(freefloat, ["facility", ...common, "--once", "--timeout", "100000"], {stdio: "ignore"});
  const child = spawn(freefloat, ["rt", ...common, "--live", "127.0.0.1:0", "--control", "--silence", "5", "--log", "none", "--out", join(runs, "rt")], {stdio: ["ignore", "ignore", "pipe"]});
  const page = await openLive(child);
  const until = async (condition) => {
    for (let i = 0; i < 2000 && !(await page.evaluate(condition)); i++) await page.waitForTimeout(20);
  };
  for (let i = 0; i < 3; i++) { // a slow machine may take its picture too late
    await until(() => window.freefloat?.time() > 4 && document.querySelector(".word").textContent === "In contact" && !/ 0\.0/.test(document.querySelector(".reason").textContent));
    await page.screenshot({path: join(out, name)});
    if ((await page.evaluate(() => document.querySelector(".word").textContent)) === "In contact") break;
  }
  await Promise.race([page.evaluate(() => window.freefloat.ask("stop")), page.waitForTimeout(5000)]);
  await page.close();
  child.kill();
  facility.kill();
  console.log(join(out, name));
}
if (wanted("live-rt")) await shootDevices("live-rt.png");
await end();
