// Reads the log of a loop that was killed with @mcap/core, every message decoded: whole chunks up to the end, cycles
// without a gap, and no more than 0.1 s of the rows that the recorder had in hand missing. node cut.mjs FILE ROWS
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { parse } from "@foxglove/rosmsg";
import { MessageReader } from "@foxglove/rosmsg2-serialization";
import { McapStreamReader } from "@mcap/core";

const rows = Number(process.argv[3]);
const stream = new McapStreamReader({ validateCrcs: true });
stream.append(new Uint8Array(readFileSync(process.argv[2])));
const schemas = new Map(), channels = new Map(), counts = {};
let next = 0n;
for (let record; (record = stream.nextRecord()); ) {
  if (record.type === "Schema")
    schemas.set(record.id, new MessageReader(parse(new TextDecoder().decode(record.data), { ros2: true })));
  if (record.type === "Channel") channels.set(record.id, record);
  if (record.type !== "Message") continue;
  const { topic, schemaId } = channels.get(record.channelId);
  const message = schemas.get(schemaId).readMessage(record.data);
  counts[topic] = (counts[topic] ?? 0) + 1;
  if (topic === "/cycle") assert.equal(message.cycle, next++);
  if (topic === "/joint_states") {
    assert.deepEqual(message.name, ["A1", "A2", "A3", "A4", "A5", "A6"].map((a) => `body/${a}`));
    assert.ok(message.position.every(Number.isFinite));
  }
  if (topic === "/body/clock") assert.ok(Math.abs(message.residual) < 10);
}
assert.equal(stream.done(), false); // it was never closed
for (const topic of ["/input", "/timing", "/body/pose", "/body/twist", "/body/robot/pose", "/body/target",
  "/body/wrench", "/body/wrench/raw", "/body/wrench/applied", "/body/energy", "/joint_states", "/clock"])
  assert.equal(counts[topic], counts["/cycle"], topic);
assert.ok((counts["/body/clock"] ?? 0) <= counts["/cycle"]); // only while the fit stands: a stalled facility begins anew
assert.ok(counts["/state"] >= 3);
const lost = rows - counts["/cycle"];
assert.ok(lost >= 0 && (lost - 1) * 0.004 <= 0.1, `${lost} rows lost`); // one was in hand
console.log(`${counts["/cycle"]} of ${rows} rows, ${Object.keys(counts).length} topics`);
