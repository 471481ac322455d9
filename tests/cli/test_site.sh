#!/usr/bin/env bash
# Sites, shipped scenarios by name, virtual contacts, attitudes: what the command line says of them. The JSON Schema accepts what the
# reader accepts and refuses what it refuses by its tables (a public validator judges).
set -u
. "$FF_SOURCE_DIR/tests/expect.sh"
F=$FREEFLOAT
S=$FF_SOURCE_DIR/scenarios
cat > lab.yaml << 'Y'
robots:
  left: {kind: delay, delay: 0.04}
  client: {kind: delay, delay: 0.02}
sensors: {left: {kind: noisy, force_noise: 0.1}}
limits: {velocity: 0.5}
facility: {gravity: [0, 0, -9.81]}
satellites: {other: {mass: -1}}
Y
cat > a.yaml << 'Y'
name: a
site: lab.yaml
time: {cycle: 0.004, duration: 1}
satellites:
  client: {mass: 280, inertia: [18, 20, 22], velocity: [0, 0, 0.02], robot: left, sensor: {site: left, force_noise: 0.2}}
contacts:
  - {name: front, kind: wall, point: com, at: [0, 0, 0.01], normal: [0, 0, -1], stiffness: 2000, damping: 5}
Y
# the same as written out, to the bit; hashes and log know the site
cat > whole.yaml << 'Y'
name: a
time: {cycle: 0.004, duration: 1}
facility: {gravity: [0, 0, -9.81]}
satellites:
  client: {mass: 280, inertia: [18, 20, 22], velocity: [0, 0, 0.02], robot: {kind: delay, delay: 0.04}, sensor: {kind: noisy, force_noise: 0.2}, limits: {velocity: 0.5}}
contacts:
  - {name: front, kind: wall, point: com, at: [0, 0, 0.01], normal: [0, 0, -1], stiffness: 2000, damping: 5}
Y
expect 0 "" "$F" run a.yaml --out site --log csv,mcap --quiet
expect 0 "" "$F" run whole.yaml --out whole --log csv --quiet
python3 - << 'P' || fail "the site's run differs from the same written out"
import csv
a, b = (list(csv.DictReader(open(f"{d}/log.csv"))) for d in ("site", "whole"))
assert len(a) == len(b) == 251 and all(x[c] == y[c] for x, y in zip(a, b) for c in x if "timing" not in c)
P
expect 0 "lab.yaml: same" "$F" verify site
mv lab.yaml gone.yaml
expect 0 "the same bits" "$F" replay site/log.mcap
mv gone.yaml lab.yaml
# a satellite takes the robot of its own name, or another kind of its own
expect 0 "" "$F" run a.yaml --set 'satellites.client.robot.delay=0.1' --out set --quiet
sed 's/robot: left, //' a.yaml > named.yaml
expect 0 "" "$F" run named.yaml --out named --quiet
python3 - << 'P' || fail "robots of their own names, and other values by --set"
import csv
def delay(d):
    rows = list(csv.DictReader(open(f"{d}/log.csv")))
    command = next(c for c in rows[0] if c.startswith("client.command.position.z"))
    robot = next(c for c in rows[0] if c.startswith("client.robot.position.z"))
    return (float(rows[100][command]) - float(rows[100][robot])) / 0.02
assert [round(delay(d), 6) for d in ("site", "named", "set")] == [0.04, 0.02, 0.1], [delay(d) for d in ("site", "named", "set")]
P
sed 's/robot: left/robot: {kind: ideal}/' a.yaml > own.yaml
expect 0 "valid" "$F" check own.yaml
# mistakes name the right file and line
sed 's/delay: 0.04/dely: 0.04/' lab.yaml > slip.yaml
sed 's/lab.yaml/slip.yaml/' a.yaml > b.yaml
expect 2 "^slip.yaml:2:23: unknown key 'dely' in satellites.client.robot \(did you mean 'delay'" "$F" check b.yaml
sed 's/robot: left/robot: lefft/' a.yaml > c.yaml
expect 2 "^c.yaml:5:.*the site has no robot 'lefft' \(did you mean 'left'\?\), allowed: left, client" "$F" check c.yaml
one_line
for wrong in "no.yaml|cannot be read" "$work|folder" "list.yaml|is a list" "nested.yaml|another site" "flat.yaml|map of names" "broken.yaml|^broken.yaml:2:1: not valid YAML"; do
  echo "- 1" > list.yaml
  echo "site: lab.yaml" > nested.yaml
  echo "robots: left" > flat.yaml
  echo "robots: {left: {" > broken.yaml
  sed "s|lab.yaml|${wrong%%|*}|" a.yaml > d.yaml
  expect 2 "${wrong#*|}" "$F" check d.yaml
  one_line
done
# a site in another folder finds its files beside itself
mkdir lab
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' > lab/triangle.obj
{ sed 's/satellites:.*//' lab.yaml; echo "satellites: {client: {mesh: {file: triangle.obj}}}"; } > lab/lab.yaml
sed 's|lab.yaml|lab/lab.yaml|' a.yaml > e.yaml
expect 0 "valid" "$F" check e.yaml
expect 0 "" "$F" run e.yaml --out mesh --quiet
grep -q 'lab/triangle.obj' mesh/manifest.json || fail "the site's mesh is not an input of the run"
[ -n "${FF_SANITIZED-}" ] || # the leak check needs ptrace, which the sandbox refuses
  expect 2 "sandbox" bash -c "mkdir -p in && sed 's|lab.yaml|../lab.yaml|' a.yaml > in/a.yaml && '$F' check in/a.yaml --sandbox"
# shipped ones by name, from anywhere; a file of that name comes first
expect 0 "deos-client.yaml: valid" "$F" check deos-client
expect 0 "valid" "$F" check wall.yaml
cp a.yaml deos-client
expect 0 "^deos-client: valid" "$F" check deos-client
expect 2 "no file 'deos-klient' and none of that name is shipped .did you mean 'deos-client'\?.; shipped: .*envisat-capture" "$F" check deos-klient; one_line
expect 2 "'envisat-capture' is a scenario that is shipped, allowed: a campaign; freefloat run takes it" "$F" campaign envisat-capture; one_line
expect 2 "'lag' is a campaign that is shipped, allowed: a scenario; freefloat campaign takes it" "$F" check lag; one_line
expect 2 "no file 'skw.*did you mean 'skew'" "$F" campaign skw
expect 2 "cannot be read" "$F" check ../deos-client
# attitudes
for form in "attitude: [0.7071067811865476, 0, 0, 0.7071067811865476]" "abc_deg: [90, 0, 0]" "rpy: [0, 0, 1.5707963267948966]" "attitude: {abc_deg: [90, 0, 0]}"; do
  sed "s/velocity:/$form, velocity:/" whole.yaml > form.yaml
  expect 0 "" "$F" run form.yaml --out form --json --log none
  python3 - form/summary.json << 'P' || fail "$form"
import json, sys
q = json.load(open(sys.argv[1]))["satellites"]["client"]["final"]["attitude_wxyz"]
assert max(abs(a - b) for a, b in zip(q, [0.5**.5, 0, 0, 0.5**.5])) < 1e-12, q
P
done
sed "s/velocity:/rpy: [0, 0, 0], abc_deg: [0, 0, 0], velocity:/" whole.yaml > form.yaml
expect 2 "abc_deg beside rpy, allowed: one of attitude, abc_deg, rpy" "$F" check form.yaml
# a virtual contact: the same motion to the bit where the robot's pose is known exactly; the sensor feels nothing of it
for method in direct tdpa damping impact fused; do
  for source in real virtual; do
    "$F" run "$S/wall.yaml" --method $method --set "contacts.0.source=$source" --out "$method-$source" --log csv --quiet || fail "$method $source"
  done
  python3 - "$method"-real "$method"-virtual << 'P' || fail "$method: real and virtual differ"
import json, sys
a, b = (json.load(open(f"{d}/summary.json"))["satellites"]["body"] for d in sys.argv[1:])
assert a["final"] == b["final"] and a["contacts"][0]["velocity_after_mps"] == b["contacts"][0]["velocity_after_mps"], (a["final"], b["final"])
P
done
expect 2 "source 'virtual' does not go with frame: relative" "$F" check "$S/wall.yaml" --set contacts.0.source=virtual --set frame=relative
expect 2 "does not belong to contact kind 'grasp'|unknown source" "$F" check "$S/wall.yaml" --set contacts.0.source=false
# the schema
/usr/bin/python3 -c 'import jsonschema, yaml' 2> /dev/null || { without "the schema: python3-jsonschema or python3-yaml is missing"; ended; }
"$F" schema > schema.json
cmp -s schema.json "$S/scenario.schema.json" || fail "scenarios/scenario.schema.json is not what freefloat schema prints: write it anew"
cat > judge.py << 'P'
import copy, json, random, subprocess, sys, yaml, os
from jsonschema import Draft202012Validator as V
schema = json.load(open("schema.json"))
V.check_schema(schema)
judge = V(schema)
good = sys.argv[2:]
for name in good:
    errors = list(judge.iter_errors(yaml.safe_load(open(name))))
    assert not errors, (name, [e.message for e in errors][:3])
seed = int(os.environ.get("FF_SEED", random.randrange(10**6)))
print("FF_SEED", seed)
random.seed(seed)
def maps(node, path=()):
    if isinstance(node, dict):
        yield path, node
        for k, v in node.items():
            yield from maps(v, path + (k,))
    elif isinstance(node, list):
        for i, v in enumerate(node):
            yield from maps(v, path + (i,))
for n in range(40 if len(good) > 1 else 0):  # one slip each: the validator and the reader both refuse it
    name = random.choice(good)
    tree = copy.deepcopy(yaml.safe_load(open(name)))
    path, node = random.choice([m for m in maps(tree) if m[1] and m[0][-1:] != ("points",)])
    slip = random.choice(["unknown", "text", "list"])
    if slip == "unknown":
        node["no_such_key" if not path or path[-1] != "satellites" else "x"] = "!" if path and path[-1] == "satellites" else 1
    else:
        numbers = [k for k, v in node.items() if isinstance(v, (int, float)) and not isinstance(v, bool) and k not in ("name",)]
        if not numbers:
            continue
        node[random.choice(numbers)] = "nonsense" if slip == "text" else [[1]]
    yaml.safe_dump(tree, open("slip.yaml", "w"))
    ours = subprocess.run([sys.argv[1], "check", os.path.abspath("slip.yaml")], capture_output=True, text=True)
    theirs = list(judge.iter_errors(tree))
    assert ours.returncode == 2 and theirs, (name, path, slip, ours.stderr, len(theirs))
P
expect 0 "FF_SEED" /usr/bin/python3 judge.py "$F" "$S"/*.yaml whole.yaml
expect 0 "FF_SEED" /usr/bin/python3 judge.py true a.yaml
ended
