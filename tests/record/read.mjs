// Reads the sample log of tests/unit/record/test_mcap.c with @mcap/core and decodes every message with Foxglove's
// ROS 2 packages: whole and indexed, as a stream, cut anywhere, and damaged. Exit status 0 if all is as written.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { parse } from "@foxglove/rosmsg";
import { MessageReader } from "@foxglove/rosmsg2-serialization";
import { McapIndexedReader, McapStreamReader } from "@mcap/core";

const bytes = new Uint8Array(readFileSync(process.argv[2]));
const long = process.argv[3] === "long";
const samples = 1000;
const epoch = 1700000000000000000n;

const column = (k, i) => Math.sin(0.1 * k + i) * 10 ** (i - 3);
const near = (a, b) => assert.ok(Math.abs(a - b) <= 4e-16 * Math.abs(b), `${a} is not ${b}`);
const xyz = (v, k) => assert.deepEqual([v.x, v.y, v.z], [k, 0.5 * k, 0 - k]);
const one23 = (v) => assert.deepEqual([v.x, v.y, v.z], [1, 2, 3]);

const check = {
  "/wrench": (m, k) => (assert.equal(m.header.frame_id, "ft_sensor"), xyz(m.wrench.force, k), one23(m.wrench.torque)),
  "/pose": (m, k) => {
    xyz(m.pose.position, k);
    assert.deepEqual([m.pose.orientation.w, m.pose.orientation.x], [0.8, 0.6]);
  },
  "/twist": (m, k) => (xyz(m.twist.linear, k), one23(m.twist.angular)),
  "/joints": (m, k) => {
    assert.deepEqual(m.name, ["a1", "axis_2", "x"]);
    assert.deepEqual([...m.position], [0.1 * k, 2, 3]);
    assert.equal(m.velocity.length, k % 2 ? 3 : 0);
    assert.equal(m.effort.length, 0);
  },
  "/energy": (m, k) => assert.deepEqual([m.kinetic, m.port, m.observer, m.dissipated], [k, 2, -3, 4]),
  "/timing": (m, k) => {
    assert.deepEqual([m.cycle, m.missed, m.dropped], [BigInt(k), 4n, 5n]);
    assert.deepEqual([m.lateness, m.compute, m.io], [1e-6, 2e-6, 3e-6]);
  },
  "/clock": (m, k) => assert.deepEqual([m.drift, m.offset, m.residual, m.rms], [2e-4, k, -1e-3, 5e-4]),
  "/diagnostics": (m) => {
    assert.deepEqual([m.status.length, m.status[0].level, m.status[0].name, m.status[0].message, m.status[0].hardware_id], [1, 1, "loop", "late", "pc"]);
    assert.deepEqual(m.status[0].values, [{ key: "late [s]", value: "0.001" }]);
  },
  "/ros_clock": (m, k) => assert.equal(BigInt(m.clock.sec) * 1000000000n + BigInt(m.clock.nanosec ?? m.clock.nsec), epoch + BigInt(k) * 4000000n),
  "/state": (m) => assert.deepEqual([m.state, m.name], [4, "FLOAT"]),
  "/event": (m) => assert.deepEqual([m.code, m.level, m.text, m.value, m.limit], [-9, 2, "force limit", 12.5, 10]),
  "/cycle": (m, k) => {
    assert.equal(m.cycle, BigInt(k));
    assert.equal(m.columns, 7);
    ["t", "a_b_x", "a_b_x_2", "c7_up", "a", "c5", "c6"].forEach((name, i) => near(m[name], column(k, i))); // the mathematics libraries differ in the last bit
  },
  "/tf": (m, k) => {
    assert.deepEqual(m.transforms.map((t) => [t.header.frame_id, t.child_frame_id]), [["inertial", "client"], ["inertial", "client/robot"]]);
    xyz(m.transforms[0].transform.translation, k);
    assert.deepEqual([m.transforms[0].transform.rotation.w, m.transforms[0].transform.rotation.x], [0.8, 0.6]);
    one23(m.transforms[1].transform.translation);
  },
  "/scene": (m, k) => {
    const [box, lines] = m.markers;
    assert.deepEqual([box.header.frame_id, box.ns, box.id, box.type, box.action, box.points.length], ["inertial", "walls", k, 1, 0, 0]);
    xyz(box.pose.position, k);
    one23(box.scale);
    assert.deepEqual([box.color.r, box.color.g, box.color.b, box.color.a], [0.25, 0.5, 0.75, 1]);
    assert.deepEqual([lines.header.frame_id, lines.ns, lines.id, lines.type, lines.action], ["client", "f", -1, 5, 2]);
    xyz(lines.points[0], k);
    one23(lines.points[1]);
    assert.deepEqual([lines.frame_locked, lines.mesh_use_embedded_materials], [true, false]);
  },
  "/robot_description": (m) => assert.equal(m.data, '<robot name="a"/>'),
};

// --- indexed, with every checksum
const readable = {
  size: async () => BigInt(bytes.length),
  read: async (offset, length) => bytes.subarray(Number(offset), Number(offset + length)),
};
const reader = await McapIndexedReader.Initialize({ readable });
assert.equal(reader.header.profile, "ros2");
const decoders = new Map();
for (const channel of reader.channelsById.values()) {
  const schema = reader.schemasById.get(channel.schemaId);
  assert.equal(schema.encoding, "ros2msg");
  assert.equal(channel.messageEncoding, "cdr");
  decoders.set(channel.id, new MessageReader(parse(new TextDecoder().decode(schema.data), { ros2: true })));
}
const counts = {};
for await (const message of reader.readMessages({ validateCrcs: true })) {
  const { topic } = reader.channelsById.get(message.channelId);
  const k = Number((message.logTime - epoch) / 4000000n);
  const decoded = decoders.get(message.channelId).readMessage(message.data);
  const stamp = (decoded.transforms ?? decoded.markers)?.[0].header.stamp ?? decoded.header?.stamp ?? decoded.stamp;
  if (stamp) assert.equal(BigInt(stamp.sec) * 1000000000n + BigInt(stamp.nanosec ?? stamp.nsec), message.logTime);
  check[topic](decoded, k);
  counts[topic] = (counts[topic] ?? 0) + 1;
}
for (const topic of Object.keys(check))
  assert.equal(counts[topic], ["/state", "/event", "/robot_description", "/scene", "/diagnostics", "/ros_clock"].includes(topic) ? samples / 100 : samples, topic);
const total = Object.values(counts).reduce((a, b) => a + b);
assert.equal(reader.statistics.messageCount, BigInt(total));
assert.equal(reader.statistics.chunkCount, reader.chunkIndexes.length);
assert.equal([...reader.channelsById.values()].find((c) => c.topic === "/cycle").metadata.get("columns"),
  "t [s],a.b.x [m],a.b_x [m],7.up,A b [m/s],c5,c6");
for await (const metadata of reader.readMetadata({ name: "freefloat" }))
  assert.equal(metadata.metadata.get("scenario"), "name: sample\n");
for await (const attachment of reader.readAttachments({ name: "scenario.yaml", validateCrcs: true }))
  assert.equal(new TextDecoder().decode(attachment.data), "name: sample\n");

// --- as a stream: whole, then cut
function stream(part) {
  const s = new McapStreamReader({ validateCrcs: true });
  s.append(part);
  let messages = 0;
  for (let record; (record = s.nextRecord()); ) messages += record.type === "Message";
  return { messages, done: s.done() };
}
assert.deepEqual(stream(bytes), { messages: total, done: true });

const perChunk = reader.chunkIndexes
  .map((c) => ({ start: Number(c.chunkStartOffset), end: Number(c.chunkStartOffset + c.chunkLength) }))
  .sort((a, b) => a.start - b.start);
const inChunk = perChunk.map(({ end }, i) => stream(bytes.subarray(0, end)).messages
  - (i ? stream(bytes.subarray(0, perChunk[i - 1].end)).messages : 0));
assert.equal(inChunk.reduce((a, b) => a + b), total);
let cuts = 0;
for (let n = 8; n < bytes.length; n += long ? 997 : 19997) {
  const want = perChunk.reduce((sum, { end }, i) => sum + (end <= n ? inChunk[i] : 0), 0);
  const got = stream(bytes.subarray(0, n));
  assert.equal(got.messages, want, `cut at ${n}`);
  assert.equal(got.done, false);
  cuts++;
}

// --- damaged: refused
const damaged = bytes.slice();
damaged[perChunk[3].start + 1000] ^= 1;
assert.throws(() => stream(damaged), /[Cc][Rr][Cc]/);
console.log(`${total} messages in ${perChunk.length} chunks read, ${cuts} cuts, 1 damage refused`);
