// node log.mjs LOG COMPRESSION: a capture's log.mcap as the public packages see it. Schemas are those that their owners publish; frames,
// joints, description, scene, forces and every column agree with each other.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { parse } from "@foxglove/rosmsg";
import { ros2humble } from "@foxglove/rosmsg-msgs-common";
import { MessageReader } from "@foxglove/rosmsg2-serialization";
import { McapIndexedReader } from "@mcap/core";
import { decompress } from "fzstd";

const bytes = new Uint8Array(readFileSync(process.argv[2]));
const reader = await McapIndexedReader.Initialize({
  readable: { size: async () => BigInt(bytes.length), read: async (at, n) => bytes.subarray(Number(at), Number(at + n)) },
  decompressHandlers: { zstd: (chunk, size) => decompress(chunk, new Uint8Array(Number(size))) },
});
assert.ok(reader.chunkIndexes.length > 0);
for (const chunk of reader.chunkIndexes) assert.equal(chunk.compression, process.argv[3]);
// the method is that of the run, though the command line named none
const metadata = [];
for await (const m of reader.readMetadata({ name: "freefloat" })) metadata.push(m.metadata);
assert.deepEqual(metadata.map((m) => [m.get("method"), m.get("option.method")]), [["direct", ""]]);
// what is not ours is as its owner defines it, field by field
const defined = (list) => list.map(({ name, type, isArray, isConstant, value }) => [name, type, !!isArray, isConstant ? value : undefined]);
let foreign = 0;
for (const schema of reader.schemasById.values()) {
  if (schema.name.startsWith("freefloat_msgs/")) continue;
  for (const part of parse(new TextDecoder().decode(schema.data), { ros2: true })) {
    const name = (part.name ?? schema.name).replace("/msg/", "/");
    if (/^builtin_interfaces\/(Time|Duration)$/.test(name)) continue; // the parser's own types
    assert.ok(ros2humble[name], name);
    assert.deepEqual(defined(part.definitions), defined(ros2humble[name].definitions), name);
    foreign++;
  }
}
assert.ok(foreign >= 25, `${foreign} definitions`);
const decoders = new Map([...reader.channelsById.values()].map((c) => [c.id, new MessageReader(parse(new TextDecoder().decode(reader.schemasById.get(c.schemaId).data), { ros2: true }))]));
const rows = new Map();
const counts = {};
for await (const m of reader.readMessages({ validateCrcs: true })) {
  const { topic } = reader.channelsById.get(m.channelId);
  counts[topic] = (counts[topic] ?? 0) + 1;
  const at = rows.get(m.logTime) ?? rows.set(m.logTime, {}).get(m.logTime);
  const message = decoders.get(m.channelId).readMessage(m.data);
  if (topic === "/tf" && at[topic]) message.transforms.push(...at[topic].transforms); // links have a message of their own
  at[topic] = message;
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
  // every frame that a pose or a wrench names is in /tf; the robots' poses in theirs are those in the inertial frame
  const placed = (name) => at["/tf"].transforms.find((t) => t.child_frame_id === name)?.transform;
  for (const name of ["client", "servicer"]) {
    assert.equal(at[`/${name}/wrench`].header.frame_id, `${name}/robot`); // measured there, in its axes
    assert.deepEqual([at[`/${name}/robot/pose`], at[`/${name}/target`]].map((m) => m.header.frame_id), ["robots", "robots"]);
    const of = placed("robots"), own = at[`/${name}/robot/pose`].pose, is = placed(`${name}/robot`).translation;
    rotate(of.rotation, own.position).forEach((v, i) => near(v + of.translation["xyz"[i]], is["xyz"[i]], "robot"));
  }
  const joints = at["/joint_states"];
  assert.equal(joints.name.length, 7);
  assert.equal(new Set(joints.name).size, 7);
  joints.position.forEach((q, i) => near(q, cycle[`servicer_joint_${i + 1}_angle`], "joint"));
  compared++;
}
assert.ok(compared > 50, `${compared} cycles`);

// --- the arm: /tf places its links where the description and the joints say
const urdf = [...rows.values()].find((r) => r["/robot_description"])["/robot_description"].data;
assert.match(urdf, /<robot /);
const [three, numbers] = ["xyz", (text) => (text ?? "0 0 0").split(" ").map(Number)];
const chain = [...urdf.matchAll(/<joint name="([^"]*)" type="(?:revolute|continuous)">(.*?)<\/joint>/gs)].map(([, name, body]) => ({
  name, parent: /parent link="([^"]*)"/.exec(body)[1], child: /child link="([^"]*)"/.exec(body)[1], axis: numbers(/axis xyz="([^"]*)"/.exec(body)?.[1]),
  xyz: numbers(/origin xyz="([^"]*)"/.exec(body)?.[1]), rpy: numbers(/rpy="([^"]*)"/.exec(body)?.[1]),
}));
assert.equal(chain.length, 7);
const multiply = (a, b) => ({
  w: a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, x: a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
  y: a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, z: a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
});
const turn = (axis, angle) => ({ w: Math.cos(angle / 2), ...Object.fromEntries(axis.map((v, i) => [three[i], v * Math.sin(angle / 2)])) });
let placed = 0;
for (const at of rows.values()) {
  const frames = new Map(at["/tf"]?.transforms.map((t) => [t.child_frame_id, t]));
  if (!frames.has(chain[0].child)) continue;
  for (const joint of chain) {
    const { header, transform } = frames.get(joint.child);
    assert.equal(header.frame_id, joint.parent);
    joint.xyz.forEach((v, i) => assert.ok(Math.abs(transform.translation[three[i]] - v) < 1e-8, joint.name));
    const q = at["/joint_states"].position[at["/joint_states"].name.indexOf(joint.name)];
    const [roll, pitch, yaw] = joint.rpy;
    const fixed = multiply(turn([0, 0, 1], yaw), multiply(turn([0, 1, 0], pitch), turn([1, 0, 0], roll)));
    const want = multiply(fixed, turn(joint.axis, q)), got = transform.rotation;
    assert.ok(Math.abs(Math.abs(want.w * got.w + want.x * got.x + want.y * got.y + want.z * got.z) - 1) < 1e-8, joint.name);
  }
  assert.equal(frames.get(chain[0].parent).header.frame_id, "servicer");
  placed++;
}
assert.ok(placed >= 25, `${placed} times 50 a second`);

// --- the scene: every marker hangs on a frame of /tf; a box has its body's moments of inertia
const scenes = [...rows.values()].filter((r) => r["/scene"]);
assert.equal(scenes.length, 1);
const { markers } = scenes[0]["/scene"];
const known = new Set(["inertial", ...[...rows.values()].flatMap((r) => r["/tf"]?.transforms.map((t) => t.child_frame_id) ?? [])]);
for (const m of markers) assert.ok(known.has(m.header.frame_id), m.header.frame_id);
assert.equal(new Set(markers.map((m) => `${m.ns} ${m.id}`)).size, markers.length);
const box = markers.find((m) => m.ns === "bodies" && m.header.frame_id === "client");
assert.deepEqual([box.type, box.action, box.color.a, box.lifetime.sec, box.frame_locked], [1, 0, 1, 0, true]);
const trace = (7828 / 6) * (box.scale.x ** 2 + box.scale.y ** 2 + box.scale.z ** 2); // of a solid cuboid
near(trace / (17023.3 + 124825.7 + 129112.2), 1, "inertia");
// what is grasped, [-2.9, 0, 0], stands on a face of it, not inside
const { orientation: q, position: p } = box.pose;
const own = rotate({ w: q.w, x: -q.x, y: -q.y, z: -q.z }, { x: -2.9 - p.x, y: -p.y, z: -p.z });
near(Math.max(...own.map((v, i) => Math.abs(v) / box.scale["xyz"[i]])), 0.5, "the face that is grasped");
for (const ns of ["robots", "arm"]) assert.ok(markers.some((m) => m.ns === ns), ns);
assert.ok(markers.filter((m) => m.ns === "arm").every((m) => m.type === 5 && m.points.length % 2 === 0));

// --- forces: along the contact's, from the gripper, where it touches and only there
let arrows = 0, empty = 0;
for (const at of rows.values()) {
  if (!at["/forces"]) continue;
  const arrow = at["/forces"].markers.find((m) => m.ns === "grip"), cycle = at["/cycle"];
  const force = [..."xyz"].map((a) => cycle[`contact_grip_force_${a}`]), size = Math.hypot(...force);
  assert.equal(arrow.action === 0, cycle.contact_grip_touching === 1 && size > 0);
  if (arrow.action !== 0) { empty++; continue; }
  const along = [..."xyz"].map((a) => arrow.points[1][a] - arrow.points[0][a]), length = Math.hypot(...along);
  force.forEach((f, i) => assert.ok(Math.abs(f / size - along[i] / length) < 1e-9, "direction"));
  arrows++;
}
assert.ok(arrows >= 10 && empty >= 5, `${arrows} arrows, ${empty} without`);
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
console.log(`${compared} cycles, ${columns.length} columns by name; ${Object.keys(counts).length} topics; ${foreign} public definitions; ${markers.length} markers, ${arrows} arrows`);
