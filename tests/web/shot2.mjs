import {launch} from "./browser.mjs";
const {context,end}=await launch();
const p=await context.newPage(); await p.goto("file:///tmp/lv/m/env/report.html"); await p.waitForTimeout(2500);
await p.evaluate(()=>window.freefloat.seek(30)); await p.waitForTimeout(500);
await p.locator(".scene").first().screenshot({path:"/tmp/lv/m/scene.png"});
const q=await context.newPage(); await q.goto("file:///tmp/lv/m/deos/report.html"); await q.waitForTimeout(2500); await q.evaluate(()=>window.freefloat.seek(19)); await q.waitForTimeout(500); await q.locator(".scene").first().screenshot({path:"/tmp/lv/m/scene2.png"});
await end();
