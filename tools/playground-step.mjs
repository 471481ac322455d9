#!/usr/bin/env node
// tools/playground-step.mjs BUILD SCENARIO...: processor time that one step of a slider costs, by method: the module of the playground
// (BUILD/playground/wasm/model.wasm) runs each scenario five times; the median is printed, with the sum of the six methods.
import {readFileSync} from "node:fs";
import {join} from "node:path";

const [build, ...files] = process.argv.slice(2);
const module = await WebAssembly.compile(readFileSync(join(build, "playground/wasm/model.wasm")));
const imports = {};
for (const {module: room, name} of WebAssembly.Module.imports(module)) (imports[room] ??= {})[name] = () => 8; // no such file
for (const file of files) {
  const text = readFileSync(file, "utf8");
  const parts = [];
  let sum = 0;
  for (const method of ["ideal", "direct", "tdpa", "damping", "impact", "fused"]) {
    const {exports: p} = await WebAssembly.instantiate(module, imports);
    p._initialize();
    const times = [];
    for (let n = 0; n < 5; n++) {
      const bytes = [text, method, "", "velocity.x"].map((t) => new TextEncoder().encode(`${t}\0`));
      let at = p.reserve(bytes.reduce((all, b) => all + b.length, 0));
      const places = bytes.map((b) => {
        new Uint8Array(p.memory.buffer).set(b, at);
        at += b.length;
        return at - b.length;
      });
      const before = process.cpuUsage();
      p.run(...places);
      times.push(process.cpuUsage(before).user / 1000);
    }
    const median = times.sort((a, b) => a - b)[2];
    sum += median;
    parts.push(`${method} ${median.toFixed(0)}`);
  }
  console.log(`${file}: ${parts.join(", ")}; together ${sum.toFixed(0)} ms of processor time`);
}
