#!/usr/bin/env node
// tools/web-figures.mjs WHAT ARGUMENT...: what the pages take, by their own clock in Chromium (docs/playground.md, docs/report.md). On a quiet machine.
//   step PLAYGROUND [PRESET]   first picture, then a slider's step to new results of all six methods: median and worst of 20
//   frames PLAYGROUND          frames a second with six scenes at 1280 x 800, and how long an input waits meanwhile
//   log REPORT LOG             a log that is dropped onto a report: until it is drawn, and until a zoom to raw rows is
//   memory ADDRESS [SECONDS]   heap of a live page every tenth of that time, after a collection
import {resolve} from "node:path";
import {launch} from "../tests/web/browser.mjs";

const [what, target, argument] = process.argv.slice(2);
if (!/^(step|frames|log|memory)$/.test(what ?? "") || !target || (what === "log" && !argument)) {
  console.error("usage: tools/web-figures.mjs step|frames PLAYGROUND, log REPORT LOG, memory ADDRESS [SECONDS]");
  process.exit(2);
}
const {context, end} = await launch({frames: true, viewport: {width: 1280, height: 800}, deviceScaleFactor: 1});
const page = await context.newPage();
const open = async () => {
  await page.goto(/^https?:/.test(target) ? target : `file://${resolve(target)}`);
  await page.waitForSelector("html[data-ready=true]");
};
// Processor time of the page's main thread so far [ms]: on a busy machine the clock says little.
const processor = async () => {
  const session = await context.newCDPSession(page);
  await session.send("Performance.enable", {timeDomain: "threadTicks"});
  return async () => 1000 * (await session.send("Performance.getMetrics")).metrics.find((m) => m.name === "TaskDuration").value;
};
const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];

if (what === "step") {
  const began = Date.now();
  await open();
  const paint = await page.evaluate(() => performance.getEntriesByType("paint").map((p) => `${p.name} ${Math.round(p.startTime)} ms`).join(", "));
  await page.evaluate(() => new Promise((done) => {
    const look = () => (window.freefloat.frames() > 0 && window.freefloat.batches() > 0 ? done() : setTimeout(look, 5));
    look();
  }));
  console.log(`${paint}; satellites after ${await page.evaluate(() => Math.round(performance.now()))} ms (with the browser's own start ${Date.now() - began} ms)`);
  if (argument) await page.evaluate(async (preset) => {
    const before = window.freefloat.batches();
    const select = document.getElementById("preset");
    select.value = preset;
    select.dispatchEvent(new Event("change"));
    while (window.freefloat.batches() === before || window.freefloat.busy()) await new Promise((next) => setTimeout(next, 20));
  }, argument);
  await page.evaluate(() => document.querySelector(".play[aria-label=Pause]")?.click());
  const times = await page.evaluate(async () => {
    const out = [];
    const input = document.getElementById("knob-stiffness");
    for (let n = 0; n < 20; n++) {
      const before = window.freefloat.batches();
      const since = performance.now();
      input.value = String(0.4 + 0.005 * n);
      input.dispatchEvent(new Event("input"));
      while (window.freefloat.batches() === before) await new Promise((next) => setTimeout(next));
      out.push([performance.now() - since, window.freefloat.took()]);
    }
    return out;
  });
  console.log(`a slider's step, all six methods: ${median(times.map((t) => t[0])).toFixed(0)} ms median, ${Math.max(...times.map((t) => t[0])).toFixed(0)} ms worst of ${times.length}; of it the runs ${median(times.map((t) => t[1])).toFixed(0)} ms`);
} else if (what === "frames") {
  await open();
  await page.evaluate(() => new Promise((done) => setTimeout(done, 3000))); // the pictures have become as coarse as they must
  const result = await page.evaluate(async () => {
    const waits = [];
    const before = window.freefloat.frames();
    const since = performance.now();
    while (performance.now() - since < 5000) {
      const asked = performance.now();
      await new Promise((next) => setTimeout(next)); // what an input waits for: the work before it
      waits.push(performance.now() - asked);
    }
    return {frames: ((window.freefloat.frames() - before) * 1000) / (performance.now() - since), wait: Math.max(...waits), playing: window.freefloat.playing()};
  });
  console.log(`${result.frames.toFixed(1)} frames a second of each of six scenes${result.playing ? "" : " (not playing)"}; an input waits at most ${result.wait.toFixed(0)} ms`);
} else if (what === "log") {
  await open();
  await page.evaluate(() => {
    window.since = 0;
    document.querySelector("input[type=file]").addEventListener("change", () => (window.since = performance.now()), {capture: true});
  });
  const spent = await processor();
  let before = await spent();
  await page.setInputFiles("input[type=file]", resolve(argument));
  const opened = await page.evaluate(async () => {
    while (window.freefloat.runs.length < 2 && !/:/.test(document.querySelector(".dropped")?.textContent ?? "")) await new Promise((next) => setTimeout(next, 2));
    await new Promise((next) => requestAnimationFrame(() => setTimeout(next)));
    return [performance.now() - window.since, window.freefloat.runs.at(-1).rows, document.querySelector(".dropped").textContent];
  });
  console.log(`${opened[2]} ${opened[1]} rows, drawn after ${(opened[0] / 1000).toFixed(2)} s, ${((await spent()) - before).toFixed(0)} ms of processor time`);
  await page.evaluate(() => document.getElementById("plots").scrollIntoView());
  await page.waitForTimeout(500);
  before = await spent();
  const zoom = await page.evaluate(async () => {
    const out = [];
    const span = window.freefloat.range()[1];
    const run = window.freefloat.runs.at(-1);
    for (let n = 1; n < 8; n++) {
      const since = performance.now();
      const from = span * (n / 9);
      window.freefloat.zoom(from, from + 0.2);
      while (run.bucket > 1 && !run.whole.some(([a, b]) => a <= from && from + 0.2 <= b)) await new Promise((next) => setTimeout(next, 1));
      await new Promise((next) => requestAnimationFrame(() => setTimeout(next)));
      out.push(performance.now() - since);
    }
    return out;
  });
  console.log(`zoomed to 0.2 s of raw rows in ${median(zoom).toFixed(0)} ms, at most ${Math.max(...zoom).toFixed(0)} ms; ${(((await spent()) - before) / zoom.length).toFixed(0)} ms of processor time each`);
} else {
  const seconds = Number(argument ?? 1800);
  await open();
  const session = await context.newCDPSession(page);
  await session.send("HeapProfiler.enable");
  for (let n = 0; n <= 10; n++) {
    await session.send("HeapProfiler.collectGarbage");
    const {usedSize, totalSize} = await session.send("Runtime.getHeapUsage");
    const {rows, t} = await page.evaluate(() => ({rows: window.freefloat.rows(), t: window.freefloat.time()}));
    console.log(`${((n * seconds) / 10).toFixed(0)} s: ${(usedSize / 1e6).toFixed(2)} MB in use, ${(totalSize / 1e6).toFixed(1)} MB of heap, ${rows} rows held, t = ${t.toFixed(1)} s`);
    if (n < 10) await page.waitForTimeout((seconds * 1000) / 10);
  }
}
await end();
process.exit(0);
