// node log.mjs LOG: a capture's log.mcap as the public packages see it. Frames, joints, description and every column agree with each other.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { parse } from "@foxglove/rosmsg";
import { MessageReader } from "@foxglove/rosmsg2-serialization";
import { McapIndexedReader } from "@mcap/core";

const bytes = new Uint8Array(readFileSync(process.argv[2]));
const reader = await McapIndexedReader.Initialize({ readable: { size: async () => BigInt(bytes.length), read: async (at, n) => bytes.subarray(Number(at), Number(at + n)) } });
const decoders = new Map([...reader.channelsById.values()].map((c) => [c.id, new MessageReader(parse(new TextDecoder().decode(reader.schemasById.get(c.schemaId).data), { ros2: true }))]));
const rows = new Map();
const counts = {};
for await (const m of reader.readMessages({ validateCrcs: true })) {
  const { topic } = reader.channelsById.get(m.channelId);
  counts[topic] = (counts[topic] ?? 0) + 1;
  const at = rows.get(m.logTime) ?? rows.set(m.logTime, {}).get(m.logTime);
  at[topic] = decoders.get(m.channelId).readMessage(m.data);
}
/** v of the body frame in inertial axes. */
const rotate = ({ w, x, y, z }, v) => {
  const t = [2 * (y * v.z - z * v.y), 2 * (z * v.x - x * v.z), 2 * (x * v.y - y * v.x)];
  return [v.x + w * t[0] + y * t[2] - z * t[1], v.y + w * t[1] + z * t[0] - x * t[2], v.z + w * t[2] + x * t[1] - y * t[0]];
};
const near = (a, b, what) => assert.ok(Math.abs(a - b) <= 1e-12 * Math.max(1, Math.abs(b)), `${what}: ${a} is not ${b}`);
let compared = 0;
for (const at of rows.values()) {
  const cycle = at["/cycle"];
  if (!cycle) continue;
  for (const name of ["client", "servicer"]) {
    const pose = at[`/${name}/pose`].pose;
    const { header, twist } = at[`/${name}/twist`];
    assert.equal(header.frame_id, name);
    // ROS: a twist is that of the child frame, in its own axes
    rotate(pose.orientation, twist.linear).forEach((v, i) => near(v, cycle[`${name}_velocity_${"xyz"[i]}`], "velocity"));
    near(twist.angular.y, cycle[`${name}_angular_velocity_y`], "angular velocity");
    const frame = at["/tf"].transforms.find((t) => t.child_frame_id === name);
    assert.equal(frame.header.frame_id, "inertial");
    assert.deepEqual([frame.transform.translation.x, frame.transform.rotation.w], [pose.position.x, pose.orientation.w]);
  }
  assert.ok(at["/tf"].transforms.some((t) => t.child_frame_id === "servicer/robot"));
  const joints = at["/servicer/joints"];
  assert.equal(joints.name.length, 7);
  assert.equal(new Set(joints.name).size, 7);
  joints.position.forEach((q, i) => near(q, cycle[`servicer_joint_${i + 1}_angle`], "joint"));
  compared++;
}
assert.ok(compared > 50, `${compared} cycles`);
assert.match(Object.values([...rows.values()].find((r) => r["/robot_description"]))[0].data, /<robot /);
// every column of log.csv is a field of its own, and says its name and unit
const [, schema] = [...reader.schemasById].find(([, s]) => s.name === "freefloat_msgs/msg/Cycle");
const columns = [...reader.channelsById.values()].find((c) => c.topic === "/cycle").metadata.get("columns").split(",");
const fields = [...new TextDecoder().decode(schema.data).matchAll(/^float64 (\w+) # (.*)$/gm)];
assert.deepEqual(fields.map((f) => f[2]), columns);
assert.equal(new Set(fields.map((f) => f[1])).size, columns.length);
for await (const { metadata } of reader.readMetadata({ name: "freefloat" })) {
  assert.match(metadata.get("started"), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assert.ok(Math.abs(Date.parse(metadata.get("started")) - Date.now()) < 3600e3);
  assert.ok(metadata.get("host").length > 0 && metadata.get("version") && metadata.get("commit"));
}
console.log(`${compared} cycles, ${columns.length} columns by name; ${Object.keys(counts).length} topics`);
