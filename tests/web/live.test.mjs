// The live page in a real browser: node live.test.mjs SCRATCH FREEFLOAT SCENARIOS
import assert from "node:assert/strict";
import {spawn} from "node:child_process";
import {readFileSync, writeFileSync} from "node:fs";
import dgram from "node:dgram";
import http from "node:http";
import net from "node:net";
import {join, resolve} from "node:path";
import {checks, closePages, findings, launch, until, watched} from "./browser.mjs";

const [scratch, freefloat, scenarios] = process.argv.slice(2).map((p) => resolve(p));
const deos = join(scenarios, "deos-client.yaml");
const {context, end} = await launch();
const children = [];
const {check, finish} = checks(async () => {
  await closePages(context);
  for (const child of children.splice(0)) {
    child.kill("SIGCONT");
    child.kill("SIGKILL");
  }
});

/** Starts freefloat and waits for its address. */
async function serve(...args) {
  const child = spawn(freefloat, args, {stdio: ["ignore", "ignore", "pipe"]});
  children.push(child);
  let said = "";
  child.stderr.on("data", (d) => (said += d));
  child.ended = new Promise((done) => child.on("exit", (code) => done(code)));
  for (let i = 0; i < 400 && !/live http\S+\n/.test(said); i++) {
    if (child.exitCode !== null) throw new Error(`freefloat ended: ${said}`);
    await new Promise((done) => setTimeout(done, 25));
  }
  const [, url, token] = /live (http:\/\/[\d.]+:\d+\/)(?:#token=([0-9a-f]{32}))?\n/.exec(said) ?? [];
  assert.ok(url, `no address in: ${said}`);
  return {child, url, token, port: Number(new URL(url).port), said: () => said};
}
const run = (duration, out, ...more) => serve("run", deos, "--live", "127.0.0.1:0", "--set", `time.duration=${duration}`, "--out", join(scratch, out), ...more);

async function open(url, options = {}) {
  const page = await watched(context, options);
  await page.goto(url);
  await page.waitForSelector("html[data-ready=true]");
  await until(page, () => window.freefloat.connected() && window.freefloat.rows() > 2);
  return page;
}
const plain = {scene: false};
const own = (page, url) => page.asked.filter((a) => !a.startsWith(url) && !a.startsWith(url.replace("http", "ws")) && !a.startsWith("data:"));

/** log.csv as a map from column to values. */
function readLog(path) {
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  const names = lines[0].split(",").map((n) => n.replace(/ \[[^\]]*\]$/, ""));
  const rows = lines.slice(1).map((l) => l.split(",").map((v) => (v === "" ? NaN : Number(v))));
  return {names, rows};
}

/** Every row of the page against the log's row of the same time: all columns, every bit. */
async function compare(page, log, step) {
  const shown = await page.evaluate(() => {
    const names = window.freefloat.columns();
    return {names, rows: Array.from({length: window.freefloat.rows()}, (_, r) => names.map((n) => {
      const v = window.freefloat.value(n, r);
      return Number.isNaN(v) ? null : v;
    }))};
  });
  assert.deepEqual(shown.names, log.names);
  let compared = 0;
  for (const row of shown.rows) {
    const truth = log.rows[Math.round(row[0] / step)];
    row.forEach((v, i) => {
      const same = v === null ? Number.isNaN(truth[i]) : v === truth[i];
      assert.ok(same, `${shown.names[i]} at ${row[0]}: ${v}, the log has ${truth[i]}`);
      compared++;
    });
  }
  return {rows: shown.rows.length, compared};
}

await check("run: loads with no error and no foreign request; the 3-D picture is not blank and moves; values equal the log's; contacts become events", async () => {
  const s = await run(60, "values"); // contacts enough for a page that a busy machine makes late
  const page = await open(s.url);
  await until(page, () => window.freefloat.frames() > 3);
  const first = await page.evaluate(() => window.freefloat.picture());
  await until(page, () => window.freefloat.events().some((e) => /^contact at front/.test(e.text)));
  await until(page, () => document.querySelector(".word").textContent === "In contact");
  assert.ok(first.length > 5000, "blank");
  await until(page, (before) => window.freefloat.picture() !== before, first, 30);
  // What a chart's legend says is the newest row.
  const chart = await page.evaluate(() => {
    const c = window.freefloat.charts().find((x) => x.title === "Velocity" && x.values);
    return {lines: c.lines, values: c.values.values, truth: c.lines.map((n) => window.freefloat.columns().indexOf(n) >= 0)};
  });
  assert.ok(chart.truth.every(Boolean) && chart.values.every((v) => Math.abs(v) < 1));
  const bars = await page.evaluate(() => window.freefloat.limits());
  assert.ok(bars.some((b) => b.name === "velocity error of client" && b.limit === 0.01) && bars.some((b) => /computing time/.test(b.name)));
  assert.deepEqual(own(page, s.url), []);
  assert.deepEqual(page.troubles, []);
  await page.evaluate(() => window.freefloat.ask("speed 10")); // to its end
  assert.equal(await s.child.ended, 0);
  await until(page, () => window.freefloat.phase() === "ended");
  const {rows, compared} = await compare(page, readLog(join(scratch, "values", "log.csv")), 0.004);
  assert.ok(rows > 30 && compared > 3000, `${rows} rows`);
  const summary = JSON.parse(readFileSync(join(scratch, "values", "summary.json"), "utf8"));
  const text = await page.evaluate(() => window.freefloat.events().find((e) => /^released front/.test(e.text)).text);
  const contact = summary.satellites.client.contacts[0];
  assert.match(text, new RegExp(`maximum ${contact.peak_robot_force_N.toFixed(2)} N`));
  await until(page, () => document.querySelector(".word").textContent === "Ended");
});

await check("the plain page, of a build without Node's packages: state, limits, values, events and orders, in its own policy", async () => {
  const s = await run(60, "bare");
  const text = readFileSync(new URL("../../web/plain_live.html", import.meta.url), "utf8");
  const policy = /<!--ff:policy (.*?)-->/.exec(text)[1];
  const page = await watched(context);
  await page.route(s.url, (route) => route.fulfill({body: text, contentType: "text/html; charset=utf-8", headers: {"content-security-policy": `${policy}; connect-src 'self' ${s.url.replace("http", "ws")}`}}));
  await page.goto(s.url);
  await until(page, () => window.freefloat.connected() && window.freefloat.time() > 0);
  await until(page, () => document.querySelector(".word").textContent === "In contact" && document.querySelector("#reason").textContent === "front");
  const rows = await page.evaluate(() => [...document.querySelectorAll("#limits tr")].map((r) => [...r.children].map((c) => c.textContent)));
  assert.deepEqual(rows[0], ["Limit", "Now", "Allowed", "Largest so far", ""]);
  assert.ok(rows.some((r) => r[0] === "velocity error of client" && r[2] === "0.01" && Number(r[3]) >= 0), JSON.stringify(rows));
  assert.ok(await page.evaluate(() => window.freefloat.events().some((e) => /^contact at front/.test(e.text)) && /contact at front/.test(document.querySelector("#events").textContent)));
  await page.click("summary");
  await until(page, () => [...document.querySelectorAll("#values tr")].some((r) => /^client\.velocity\.z/.test(r.textContent)));
  await page.click("text=Hold");
  await until(page, () => document.querySelector(".word").textContent === "Held" && /^✓/.test(document.querySelector("#answer").textContent));
  await page.click("text=Continue");
  await until(page, () => window.freefloat.phase() === "running");
  await page.click("text=Stop");
  await until(page, () => ["Stopped", "No connection"].includes(document.querySelector(".word").textContent));
  assert.deepEqual(own(page, s.url), []);
  assert.deepEqual(page.troubles.filter((t) => !/WebSocket/.test(t)), []); // the server is gone
});

await check("says when data are stale, and recovers; reconnects after a restart and says that there was no connection", async () => {
  const a = await run(60, "restart");
  const page = await open(a.url, plain);
  a.child.kill("SIGSTOP");
  await until(page, () => document.querySelector(".word").textContent === "Stale", null, 10);
  assert.ok((await page.evaluate(() => window.freefloat.age())) > 1);
  a.child.kill("SIGCONT");
  await until(page, () => document.querySelector(".word").textContent !== "Stale" && window.freefloat.age() < 1, null, 15);
  const before = await page.evaluate(() => window.freefloat.session());
  const ended = new Promise((done) => a.child.once("exit", done)); // its folder is free then, a moment after its socket
  a.child.kill("SIGKILL");
  await until(page, () => document.querySelector(".word").textContent === "No connection");
  await ended;
  const b = await serve("run", deos, "--live", `127.0.0.1:${a.port}`, "--out", join(scratch, "restart"), "--force", "--quiet");
  assert.equal(b.url, a.url);
  await until(page, (old) => window.freefloat.connected() && window.freefloat.session() !== old && window.freefloat.rows() > 5, before);
  await until(page, () => /Floating|contact/.test(document.querySelector(".word").textContent));
});

await check("token: wrong and missing are refused for zero and set; right ones are confirmed by the loop", async () => {
  const s = await run(60, "token", "--control");
  const page = await open(`${s.url}#token=${s.token}`, plain);
  assert.ok(!page.url().includes(s.token), "the token stays in the address bar");
  const ask = (text, token) => page.evaluate(([t, k]) => window.freefloat.ask(t, k), [text, token]);
  for (const order of ["zero", "set threshold 1"]) {
    assert.deepEqual([(await ask(order)).done, (await ask(order, "0".repeat(32))).done], [false, false], order);
    assert.match((await ask(order)).text, /needs the token/);
  }
  await until(page, () => /^released/.test(window.freefloat.events().at(-1)?.text ?? ""));
  const set = await ask("set threshold 1", s.token);
  assert.ok(set.done && /threshold is now 1 N/.test(set.text), set.text);
  assert.ok(!(await ask("set threshold 1e9", s.token)).done);
  assert.ok(!(await ask("set mass 1", s.token)).done);
  await until(page, () => /^released/.test(window.freefloat.events().at(-1)?.text ?? ""));
  const zero = await ask("zero", s.token);
  assert.ok(zero.done && /^zeroed/.test(zero.text), zero.text);
  assert.ok(!(await ask("arm", s.token)).done, "the page arms");
  await until(page, () => document.querySelector(".word").textContent === "In contact");
  assert.match((await ask("zero", s.token)).text, /in contact/);
  assert.match((await ask("set threshold 2", s.token)).text, /in contact/);
  // By hand: the field holds the token of the address, the button sends it.
  // A contact may come between the look and the click: then it is refused, and asked again.
  const took = () => /threshold is now 0.5 N/i.test(document.querySelector(".answer").textContent);
  for (let i = 0; i < 30 && !(await page.evaluate(took)); i++) {
    await until(page, () => !/In contact/.test(document.querySelector(".word").textContent));
    await page.locator("#p0").fill("0.5");
    await page.getByRole("button", {name: "Set threshold", exact: true}).click();
    await page.waitForTimeout(200);
    await until(page, () => /is now 0.5|in contact|answer/i.test(document.querySelector(".answer").textContent));
  }
  assert.ok(await page.evaluate(took), await page.evaluate(() => document.querySelector(".answer").textContent));
  assert.ok((await ask("stop")).done); // needs none on loopback
  assert.equal(await s.child.ended, 1);
});

await check("view only: guarded orders do not exist, hold and stop do", async () => {
  const s = await run(60, "only");
  const page = await open(s.url, plain);
  const ask = (text, token) => page.evaluate(([t, k]) => window.freefloat.ask(t, k), [text, token]);
  assert.match((await ask("zero", "")).text, /--control/);
  assert.match((await ask("set threshold 1", "0".repeat(32))).text, /--control/);
  assert.equal(await page.locator("#token").count(), 0);
  assert.ok((await ask("hold")).done);
  await until(page, () => window.freefloat.phase() === "held");
  const t = await page.evaluate(() => window.freefloat.time());
  await page.waitForTimeout(400);
  assert.ok(Math.abs((await page.evaluate(() => window.freefloat.time())) - t) < 0.05);
  assert.ok((await ask("resume")).done);
  await until(page, (then) => window.freefloat.time() > then + 0.1, t);
});

await check("a hostile scenario shows as text", async () => {
  const name = "<img src=x onerror=alert(1)>";
  const text = readFileSync(deos, "utf8").replace("name: deos-client", `name: ${JSON.stringify(name)}`)
    .replace("  client:", '  "<b><script>alert(2)<script>":').replaceAll("body: client", 'body: "<b><script>alert(2)<script>"')
    .replace("name: front", 'name: "<svg onload>"');
  writeFileSync(join(scratch, "hostile.yaml"), text);
  const s = await serve("run", join(scratch, "hostile.yaml"), "--live", "127.0.0.1:0", "--out", join(scratch, "hostile"), "--quiet");
  const page = await open(s.url);
  assert.equal(await page.locator("h1").innerText(), name);
  await until(page, () => window.freefloat.events().some((e) => e.text.startsWith("contact at <svg onload>")));
  await until(page, () => document.querySelector(".events").textContent.includes("<svg onload>"));
  assert.equal(await page.evaluate(() => document.querySelectorAll("img, main b > *, svg[onload], main script").length), 0);
  assert.deepEqual(page.troubles, []);
});

/** A WebSocket handshake with chosen headers; the status of the answer. */
function handshake(port, headers) {
  return new Promise((done) => {
    const request = http.request({host: "127.0.0.1", port, path: "/", headers: {Connection: "Upgrade", Upgrade: "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": "freefloat", ...headers}});
    request.on("upgrade", (r, socket) => {
      socket.destroy();
      done(r.statusCode);
    });
    request.on("response", (r) => {
      r.resume();
      done(r.statusCode);
    });
    request.on("error", () => done(0));
    request.end();
  });
}

await check("a foreign or missing origin, and a foreign host, are refused; so are oversize messages; a dozen more viewers find a place, the others continue", async () => {
  const s = await run(60, "origin");
  const host = `127.0.0.1:${s.port}`;
  assert.equal(await handshake(s.port, {Host: host, Origin: `http://${host}`}), 101);
  assert.equal(await handshake(s.port, {Host: `localhost:${s.port}`, Origin: `http://localhost:${s.port}`}), 101);
  for (const headers of [{Host: host, Origin: "http://evil.example"}, {Host: host, Origin: `https://${host}`}, {Host: host, Origin: `http://${host}.evil.example`}, {Host: host, Origin: "null"}, {Host: host},
    {Host: `evil.example:${s.port}`, Origin: `http://evil.example:${s.port}`}, {Host: `127.0.0.1:${s.port + 1}`, Origin: `http://127.0.0.1:${s.port + 1}`}])
    assert.notEqual(await handshake(s.port, headers), 101, JSON.stringify(headers));
  const status = (headers, method = "GET", path = "/") => new Promise((done) => {
    const request = http.request({host: "127.0.0.1", port: s.port, path, method, headers}, (r) => {
      r.resume();
      done(r.statusCode);
    });
    request.on("error", () => done(0));
    request.end(method === "POST" ? "x" : undefined);
  });
  assert.equal(await status({Host: host}), 200);
  assert.equal(await status({Host: "evil.example"}), 403);
  assert.equal(await status({Host: host}, "GET", "/../etc/passwd"), 404);
  assert.ok([0, 405].includes(await status({Host: host}, "POST")));
  assert.notEqual(await status({Host: host, "X-Long": "y".repeat(20000)}), 200);
  assert.equal(await status({Host: host}), 200);
  const page = await open(s.url, plain);
  const code = (bytes) => page.evaluate((n) => new Promise((done) => {
    const w = new WebSocket(`ws://${location.host}/`, "freefloat");
    w.onopen = () => w.send(n < 0 ? new Uint8Array(-n) : "1".repeat(n));
    w.onclose = (e) => done(e.code);
    w.onmessage = (e) => typeof e.data === "string" && JSON.parse(e.data).kind === "answer" && done("answer");
  }), bytes);
  assert.equal(await code(200), "answer");
  // 1009 says too large; a longer one may already have met a closed connection (1006).
  for (const bytes of [257, 100000, -8]) assert.ok([1006, 1009].includes(await code(bytes)), `${bytes} bytes were taken`);
  const opened = await page.evaluate(() => Promise.all(Array.from({length: 12}, () => new Promise((done) => {
    const w = new WebSocket(`ws://${location.host}/`, "freefloat");
    w.onmessage = () => done(1);
    w.onclose = () => done(0);
  }))));
  const n = opened.reduce((a, b) => a + b, 0);
  assert.equal(n, 12);
  const t = await page.evaluate(() => window.freefloat.time());
  await until(page, (then) => window.freefloat.time() > then + 0.2, t);
});

await check("360, 768 and 1920 px, light and dark: nothing is cut off, no console error", async () => {
  const s = await run(60, "widths", "--control");
  for (const [width, scheme, scene] of [[360, "light", true], [768, "dark", false], [1920, "light", false]]) {
    const page = await open(s.url, {width, scheme, scene});
    await until(page, () => window.freefloat.charts().length >= 3);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
    const wide = await page.evaluate(() => [...document.querySelectorAll("main *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".scene, .scroll, .hidden, .u-wrap")).map((e) => e.className));
    assert.deepEqual(wide, []);
    assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), scheme);
    assert.deepEqual(page.troubles, []);
    if (process.env.FF_SCREENS) await page.screenshot({path: join(process.env.FF_SCREENS, `live-${width}.png`), fullPage: true});
    await page.close();
  }
});

await check("keyboard only: hold, continue, theme, every control reachable", async () => {
  const s = await run(60, "keys", "--control");
  const page = await open(s.url, plain);
  await page.evaluate(() => {
    window.reached = [];
    document.addEventListener("focusin", ({target: e}) => window.reached.push(`${e.tagName} ${e.getAttribute("aria-label") ?? (e.textContent || e.id).slice(0, 20)}`));
  });
  for (let i = 0; i < 60 && (await page.evaluate(() => window.reached.filter((r) => r === window.reached[0]).length)) < 2; i++)
    for (let k = 0; k < 5; k++) await page.keyboard.press("Tab"); // until the first one comes round again
  const reached = await page.evaluate(() => window.reached);
  for (const wanted of [/BUTTON Hold/, /BUTTON Stop/, /INPUT token/, /BUTTON Zero/, /BUTTON Set threshold/, /SELECT Pace/, /SELECT Time shown/, /Events/, /Switch to the/])
    assert.ok(reached.some((r) => wanted.test(r)), `${wanted} is not reached: ${reached.join(", ")}`);
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("Space");
  await until(page, () => window.freefloat.phase() === "held" && document.querySelector(".word").textContent === "Held");
  await page.evaluate(() => [...document.querySelectorAll("button")].find((b) => b.textContent === "Continue").focus());
  await page.keyboard.press("Enter");
  await until(page, () => window.freefloat.phase() === "running");
  assert.deepEqual(await findings(page), []);
});

await check("view: a recorded run plays, pauses, seeks and changes its speed; values equal the log's", async () => {
  const out = join(scratch, "recorded");
  const made = spawn(freefloat, ["run", deos, "--set", "time.duration=20", "--quiet", "--out", out], {stdio: "ignore"});
  assert.equal(await new Promise((done) => made.on("exit", done)), 0);
  const s = await serve("view", out, "--live", "127.0.0.1:0", "--quiet");
  const page = await open(s.url);
  assert.match(await page.locator("h1").innerText(), /^deos-client/);
  assert.ok((await page.evaluate(() => window.freefloat.mode())) === "view");
  await until(page, () => window.freefloat.time() > 0.5 && window.freefloat.frames() > 2);
  await page.evaluate(() => window.freefloat.ask("speed 0.05")); // also a slow browser presses before the end
  await page.getByRole("button", {name: "Pause"}).click();
  await until(page, () => window.freefloat.phase() === "held");
  const log = readLog(join(out, "log.csv"));
  await page.waitForTimeout(300);
  await compare(page, log, 0.004);
  const ask = (text) => page.evaluate((t) => window.freefloat.ask(t), text);
  assert.ok((await ask("seek 12.5")).done);
  await until(page, () => Math.abs(window.freefloat.time() - 12.5) < 0.005);
  const {rows} = await compare(page, log, 0.004);
  assert.ok(rows > 10);
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("ArrowLeft");
  await until(page, () => Math.abs(window.freefloat.time() - 12) < 0.005);
  assert.ok((await ask("speed 10")).done);
  await page.keyboard.press("Space");
  await until(page, () => window.freefloat.phase() === "ended");
  assert.ok(Math.abs((await page.evaluate(() => window.freefloat.time())) - 20) < 0.005);
  await page.keyboard.press("Space"); // from the beginning again
  await until(page, () => window.freefloat.phase() === "running" && window.freefloat.time() < 18);
  assert.ok(!(await ask("zero")).done);
  assert.deepEqual(own(page, s.url), []);
  assert.deepEqual(page.troubles, []);
  await page.getByRole("button", {name: "Close"}).click();
  assert.equal(await s.child.ended, 0);
});

/** A facility on free ports of 127.0.0.1, and rt with the page on it. Slow cycles and wide watches: a browser beside it
 * takes the processor away for tens of milliseconds. */
const floating = join(scratch, "floating.yaml");
writeFileSync(floating, `name: floating
time: {cycle: 0.012, duration: 90}
method: tdpa
satellites:
  client:
    mass: 100
    inertia: [10, 10, 10]
    velocity: [0.04, 0, 0]
    robot: {kind: delay, delay: 0.024}
    safety: {box: [0.4, 0.4, 0.4], velocity: 0.5, force: 200, torque: 40, energy: 5, tracking: 0.1, acceleration: 20, jerk: 5000, spike: 150, age: 5, missed: 400}
contacts:
  - {name: right, kind: wall, at: [0.05, 0, 0], normal: [-1, 0, 0], stiffness: 300, damping: 0}
  - {name: left, kind: wall, at: [-0.05, 0, 0], normal: [1, 0, 0], stiffness: 300, damping: 0}
`);
const freePort = (kind) => new Promise((done, fail) => {
  const s = kind === "udp" ? dgram.createSocket("udp4") : net.createServer();
  s.on("error", fail);
  const got = () => {
    const {port} = s.address();
    s.close(() => done(port));
  };
  if (kind === "udp") s.bind(0, "127.0.0.1", got);
  else s.listen(0, "127.0.0.1", got);
});
async function onDevices(out, ...more) {
  const ports = ["--rsi-port", await freePort("udp"), "--ati-port", await freePort("udp"), "--http-port", await freePort("tcp")].map(String);
  const facility = spawn(freefloat, ["facility", floating, "--once", "--timeout", "100000", ...ports], {stdio: "ignore"});
  children.push(facility);
  return {...(await serve("rt", floating, "--live", "127.0.0.1:0", "--out", join(scratch, out), ...ports, ...more)), facility};
}

await check("view: a run that ended in FAULT says so first, before and at its end", async () => {
  const out = join(scratch, "fault");
  const made = spawn(freefloat, ["run", deos, "--method", "fused", "--set", "satellites.client.safety={force: 14.8}", "--quiet", "--out", out], {stdio: "ignore"});
  assert.equal(await new Promise((done) => made.on("exit", done)), 1);
  const s = await serve("view", out, "--live", "127.0.0.1:0", "--quiet");
  const page = await open(s.url, plain);
  await until(page, () => /^(Fault later: a|A)t 2\.044 s: FAULT, FORCE: the contact force is too large/.test(document.querySelector(".reason").textContent) && !/\bgood\b/.test(document.querySelector(".live-state").className));
  await until(page, () => document.querySelector(".word").textContent === "Fault" && /^At 2\.044 s: FAULT, FORCE/.test(document.querySelector(".reason").textContent) && /\bbad\b/.test(document.querySelector(".live-state").className), null, 60);
});

await check("rt: limits with the distance to a trip, state in words, timing; no foreign request; a facility that dies is a fault, in words", async () => {
  const s = await onDevices("rt-show", "--silence", "3");
  const page = await open(s.url);
  await until(page, () => window.freefloat.phase() === "running" && /State (FLOAT|CONTACT)/.test(document.querySelector(".reason").textContent));
  await until(page, () => window.freefloat.events().some((e) => /^contact at right/.test(e.text)), null, 30);
  const bars = await page.evaluate(() => window.freefloat.limits());
  for (const name of ["resting place x", "robot's velocity", "contact force", "contact torque", "energy given by the contact", "tracking error", "commanded acceleration", "commanded jerk", "change of force in a cycle", "age of the sensor's sample", "telegrams missed in a row", "robot's silence", "velocity error of client"]) {
    const bar = bars.find((b) => b.name === name);
    assert.ok(bar && Number.isFinite(bar.now) && bar.limit > 0, `${name}: ${JSON.stringify(bar)}`);
  }
  const silence = bars.find((b) => b.name === "robot's silence");
  assert.ok(silence.trips && silence.limit === 3 && silence.peak > 0 && silence.peak < 3, JSON.stringify(silence));
  const force = bars.find((b) => b.name === "contact force");
  assert.ok(force.trips && force.limit === 200 && force.peak > 0.001, JSON.stringify(force));
  await until(page, () => /Nearest to a trip: .* left/.test(document.querySelector(".nearest").textContent));
  await until(page, () => document.querySelectorAll(".limits .bar").length === window.freefloat.limits().length && [...document.querySelectorAll(".limits li > :last-child")].every((e) => /left|too much/.test(e.textContent)));
  const facts = await page.evaluate(() => Object.fromEntries([...document.querySelectorAll("dl.facts dt")].map((d) => [d.textContent, d.nextElementSibling.textContent])));
  for (const name of ["Age of the data", "Computing", "Woken late by", "Input and output", "Lost rows"]) assert.ok(/\d/.test(facts[name]), `${name}: ${facts[name]}`);
  const said = await page.evaluate(() => window.freefloat.events().map((e) => e.text));
  assert.ok(said.some((t) => /^CHECK/.test(t)), `the states are events: ${JSON.stringify(said)}`);
  // What happened before the motion does not have the time at which that began.
  const times = await page.evaluate(() => [...document.querySelectorAll(".events li")].map((e) => [e.querySelector(".text").textContent, e.querySelector(".when").textContent]));
  for (const [text, when] of times) if (/^(CHECK|TEST|ZEROED|ARMED|APPROACH):/.test(text)) assert.equal(when, "before the run", text);
  assert.ok(times.filter(([text, when]) => /^RUNUP:/.test(text) && /^-?\d+\.\d{3}\u00a0s$/.test(when)).length === 1, JSON.stringify(times));
  const late = await open(s.url, plain); // who comes when it moves sees the check's, too
  await until(late, () => window.freefloat.events().some((e) => /^CHECK/.test(e.text)) && window.freefloat.events().some((e) => /^contact at right/.test(e.text)), null, 30);
  await late.close();
  assert.equal(await page.locator("#token").count(), 0, "view only");
  assert.match((await page.evaluate(() => window.freefloat.ask("set threshold 1", "0".repeat(32)))).text, /--control/);
  const first = await page.evaluate(() => window.freefloat.picture());
  await until(page, (before) => window.freefloat.picture() !== before, first, 30);
  assert.deepEqual(own(page, s.url), []);
  assert.deepEqual(page.troubles, []);
  assert.ok(await page.getByRole("button", {name: "Retreat"}).isEnabled());
  s.facility.kill("SIGKILL");
  await until(page, () => window.freefloat.events().some((e) => e.level === "alarm" && /^SILENT: the robot has fallen silent/.test(e.text)), null, 25);
  await until(page, () => document.querySelector(".word").textContent === "Fault" && /^SILENT: the robot has fallen silent/.test(document.querySelector(".reason").textContent), null, 25);
  // The trip stands where the nearest limit stood, and nothing retreats any more.
  await until(page, () => /^Tripped: SILENT: the robot has fallen silent/.test(document.querySelector(".nearest").textContent));
  assert.ok(await page.getByRole("button", {name: "Retreat"}).isDisabled(), "retreat is offered after a fault");
  // The banner says the cause first; the page stays with the files of the run until it is ended there.
  await until(page, () => /^SILENT: the robot has fallen silent/i.test(document.querySelector(".reason").textContent) && document.querySelectorAll(".files a").length === 2, null, 25);
  const files = await page.evaluate(() => Promise.all([...document.querySelectorAll(".files a")].map(async (a) => (await (await fetch(a.href)).text()).slice(0, 200))));
  assert.ok(files.some((t) => /^t/.test(t)) && files.some((t) => /<!doctype html>/i.test(t)), JSON.stringify(files));
  await page.waitForTimeout(2500);
  assert.equal(s.child.exitCode, null, "the server left");
  assert.ok((await page.evaluate(() => window.freefloat.ask("stop"))).done);
  assert.equal(await s.child.ended, 1);
});

await check("rt: wrong and missing tokens are refused for zero and set; the loop confirms right ones; nothing arms or resumes", async () => {
  let s, page, out;
  for (let i = 0; ; i++) { // in wall-clock time beside a busy machine a run may end before it floats: said, and another one
    out = `rt-token${i}`;
    s = await onDevices(out, "--control", "--silence", "20");
    page = await open(`${s.url}#token=${s.token}`, plain);
    try {
      await until(page, () => window.freefloat.phase() === "running", null, 40);
      break;
    } catch (e) {
      const why = `${e.message}: ${await page.evaluate(() => `${window.freefloat.phase()}, ${document.querySelector(".reason").textContent}`)}; ${s.said()}`;
      if (i === 2) throw new Error(why);
      console.log(`again: ${why}`);
      s.child.kill();
      s.facility.kill();
    }
  }
  const ask = (text, token) => page.evaluate(([t, k]) => window.freefloat.ask(t, k), [text, token]);
  for (const order of ["zero", "set threshold 1", "set client.limit.force 100"]) {
    assert.match((await ask(order)).text, /needs the token/, order);
    assert.ok(!(await ask(order, "")).done);
  }
  assert.match((await ask("zero", "0".repeat(32))).text, /wrong token/);
  assert.match((await ask("set threshold 1", s.token.slice(0, 31))).text, /wrong token/);
  for (const order of ["arm", "resume", "start", "speed 2"]) assert.ok(!(await ask(order, s.token)).done, `${order} was taken`);
  // Between two contacts; a slow browser may miss the gap.
  const outside = async (text) => {
    for (let i = 0; ; i++) {
      const got = await ask(text, s.token);
      if (i > 100 || !/in contact|while the satellite floats|no answer|did not answer/.test(got.text)) return got;
      await page.waitForTimeout(200);
    }
  };
  const set = await outside("set client.limit.force 150");
  assert.ok(set.done && /client\.limit\.force is now 150 N, it was 200/.test(set.text), set.text);
  await until(page, () => window.freefloat.limits().find((b) => b.name === "contact force").limit === 150);
  assert.ok(!(await ask("set client.limit.force 201", s.token)).done, "a limit was widened");
  const threshold = await outside("set threshold 0.01");
  assert.ok(threshold.done && /threshold is now 0.01 N/.test(threshold.text), threshold.text);
  const zero = await outside("zero");
  assert.ok(zero.done && /^zeroed/.test(zero.text), zero.text);
  for (const order of ["zero", "set threshold 0.01"]) {
    let text = "";
    for (let i = 0; i < 5 && !/in contact/.test(text); i++) {
      await until(page, () => document.querySelector(".word").textContent === "In contact", null, 30);
      text = (await ask(order, s.token)).text;
    }
    assert.match(text, /in contact/, `${order}: ${text}`);
  }
  assert.ok((await page.evaluate(() => window.freefloat.events().map((e) => e.text))).some((t) => /threshold is now 0.01/.test(t)), "answers are events");
  // By keyboard: hold needs no token on loopback; it rests, stays, and nothing resumes it.
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("Space");
  await until(page, () => window.freefloat.phase() === "held" && document.querySelector(".word").textContent === "Held", null, 20);
  await page.waitForTimeout(1200);
  assert.equal(s.child.exitCode, null, "holds");
  assert.ok((await page.evaluate(() => window.freefloat.age())) < 1, "still says where it is");
  assert.ok(await page.getByRole("button", {name: "Hold", exact: true}).isDisabled(), "hold is offered again");
  assert.ok(!(await ask("resume", s.token)).done, "resumed");
  assert.ok((await ask("retreat")).done, "out of a contact once more, without a token");
  assert.match((await ask("zero", s.token)).text, /only while/);
  const stop = await ask("stop"); // needs no token on loopback
  assert.ok(stop.done, stop.text);
  assert.equal(await s.child.ended, 1);
  const summary = JSON.parse(readFileSync(join(scratch, out, "summary.json"), "utf8"));
  assert.ok(summary.cycles > 100);
  // The recorded run is shown with its limits, too.
  const v = await serve("view", join(scratch, out), "--live", "127.0.0.1:0", "--quiet");
  const again = await open(v.url, plain);
  await until(again, () => window.freefloat.limits().some((b) => b.name === "contact force of client" && b.limit === 200 && Number.isFinite(b.now)));
});

await end();
finish();
