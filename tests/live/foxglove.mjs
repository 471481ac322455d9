// foxglove.mjs URL LAYOUT: a run as Foxglove's own client (@foxglove/ws-protocol) and its ROS 2 packages see it: every topic is decoded, and
// every field that the shipped layout plots is there. Stops the run.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { parse } from "@foxglove/rosmsg";
import { ros2humble } from "@foxglove/rosmsg-msgs-common";
import { MessageReader, MessageWriter } from "@foxglove/rosmsg2-serialization";
import protocol from "@foxglove/ws-protocol";
import { WebSocket } from "ws";

const client = new protocol.FoxgloveClient({ ws: new WebSocket(process.argv[2], ["foxglove.sdk.v1", "foxglove.websocket.v1"]) });
const once = (event) => new Promise((resolve) => client.on(event, resolve));
const late = setTimeout(() => { console.error(`late; without a message: ${[...missing]}`); process.exit(1); }, 80000);
client.on("error", (e) => { console.error(e); process.exit(1); });

const topics = new Map(), missing = new Set(), readers = new Map(), first = new Map();
client.on("status", (s) => assert.fail(s.message));
client.on("advertise", (channels) => {
  for (const c of channels) {
    assert.deepEqual([c.encoding, c.schemaEncoding], ["cdr", "ros2msg"]);
    const definitions = parse(c.schema, { ros2: true });
    const own = ros2humble[c.schemaName.replace("/msg/", "/")]; // as ROS 2 itself defines it
    const plain = (list) => list.map(({ name, type, isArray, isConstant, value }) => [name, type, !!isArray, isConstant ? value : undefined]);
    if (!c.schemaName.startsWith("freefloat_msgs/")) assert.deepEqual(plain(definitions[0].definitions), plain(own.definitions), c.schemaName);
    const id = client.subscribe(c.id);
    topics.set(id, c.topic);
    readers.set(id, new MessageReader(definitions));
    if (!["/event", "/robot_description", "/joint_states", "/client/clock"].includes(c.topic)) missing.add(c.topic); // nothing to say in this run
  }
});
let clock = 0n;
client.on("time", ({ timestamp }) => { assert.ok(timestamp >= clock); clock = timestamp; });
const services = once("advertiseServices"), info = await once("serverInfo");
assert.match(info.name, /^freefloat /);
await new Promise((resolve) => client.on("message", ({ subscriptionId, timestamp, data }) => {
  const message = readers.get(subscriptionId).readMessage(data), topic = topics.get(subscriptionId);
  const stamp = message.header?.stamp ?? message.stamp ?? message.clock;
  if (stamp) assert.equal(BigInt(stamp.sec) * 1000000000n + BigInt(stamp.nanosec ?? stamp.nsec), timestamp, topic);
  first.set(topic, message);
  missing.delete(topic);
  if (!missing.size) resolve();
}));

// the layout: JSON, and each path that it plots is a topic and a field of this run
const layout = JSON.parse(readFileSync(process.argv[3]));
const paths = [];
const walk = (node) => { for (const [key, value] of Object.entries(node ?? {})) if (key === "value" && typeof value === "string" && value.startsWith("/")) paths.push(value); else if (typeof value === "object") walk(value); };
walk(layout.configById);
assert.ok(paths.length >= 10, `${paths.length} paths`);
for (const path of paths) {
  const [, topic, ...fields] = /^([^.[{]+)(.*)$/.exec(path), message = first.get(topic);
  assert.ok(message, path);
  let node = message;
  for (const field of fields.join("").replace(/\{[^}]*\}|\[[^\]]*\]/g, ".0").split(".").filter(Boolean)) node = node?.[field];
  assert.equal(typeof node, "number", path);
}
const panels = JSON.stringify(layout.layout).match(/[A-Za-z0-9]+![a-z0-9]+/g);
assert.deepEqual([...panels].sort(), Object.keys(layout.configById).sort()); // every panel stands somewhere

// a service as the application calls it
const stop = (await services).find((s) => s.name === "/freefloat/stop");
const request = new MessageWriter(parse(stop.request.schema, { ros2: true })).writeMessage({});
const answer = once("serviceCallResponse");
client.sendServiceCallRequest({ serviceId: stop.id, callId: 5, encoding: stop.request.encoding, data: new DataView(request.buffer, request.byteOffset, request.byteLength) });
const { callId, encoding, data } = await answer;
assert.deepEqual([callId, encoding], [5, "cdr"]);
const said = new MessageReader(parse(stop.response.schema, { ros2: true })).readMessage(data);
assert.equal(said.success, true);
clearTimeout(late);
console.log(`npm: ${first.size} topics, ${paths.length} paths of the layout`);
client.close();
process.exit(0);
