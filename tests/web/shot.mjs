import {launch} from "./browser.mjs";
const {context,end}=await launch();
for (const [f,n,scheme] of JSON.parse(process.argv[2])) { const p=await context.newPage(); p.on("console",m=>console.log(m.type(),m.text())); p.on("pageerror",e=>console.log("ERR",e.message)); await p.emulateMedia({colorScheme:scheme??"light"}); await p.goto("file://"+f); await p.waitForTimeout(2500); await p.screenshot({path:n,fullPage:true}); await p.close(); }
await end();
