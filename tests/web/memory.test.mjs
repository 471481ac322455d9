// The table behind the live page holds the same arrays however long the run is: node memory.test.mjs TABLE.mjs
import assert from "node:assert/strict";

const {LiveTable} = await import(process.argv[2]);
const names = ["t [s]", "a [m]", "b"];
const capacity = 500;
const table = new LiveTable(names, capacity);
const row = new Float64Array(3);
const buffers = new Set();
for (let k = 0; k < 40 * capacity; k++) {
  row.set([0.01 * k, k, -k]);
  table.push(row);
  buffers.add(table.time.buffer).add(table.column("a").buffer).add(table.column("b").buffer);
  assert.ok(table.rows <= capacity);
  assert.equal(table.rows, Math.min(k + 1, capacity));
  assert.equal(table.time[0], 0.01 * Math.max(0, k + 1 - capacity)); // the oldest that is kept
  assert.equal(table.last("b"), -k);
}
assert.equal(buffers.size, names.length, "an array was replaced by another");
const bytes = [...buffers].reduce((sum, b) => sum + b.byteLength, 0);
assert.equal(bytes, names.length * 2 * capacity * 8);
console.log(`${40 * capacity} rows: ${bytes} bytes in ${buffers.size} arrays, from the first to the last`);
