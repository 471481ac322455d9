#!/usr/bin/env bash
# Maps and curves of campaigns and analyses, meshes, arms and emulations in Debian's Chromium.
. "$(dirname "$0")/browser.sh"

cd "$scratch"
cat > map.yaml <<Y
name: "<img src=x onerror=alert(1)>"
base: $root/scenarios/wall.yaml
methods: [direct, tdpa]
vary:
  satellites.body.robot.delay: {grid: [0.005, 0.03, 4]}
  contacts.right.stiffness: {log_grid: [1000, 8000, 3]}
metrics: {rebound: rebound_error, force: peak_force_ratio, wt: omega_tau, good: pass}
maps:
  - {x: satellites.body.robot.delay, y: contacts.right.stiffness, show: force,
     limits: [{of: wt, at: 0.1, label: 'w tau is <0.1>'}]}
  - {x: satellites.body.robot.delay, show: rebound,
     limits: [{of: wt, label: wt itself}, {of: wt, at: 0.1}]}
  - {x: satellites.body.robot.delay, y: contacts.right.stiffness, show: good, contour: 0.5}
  - {x: satellites.body.robot.delay, show: good, contour: 0.5}
Y
"$freefloat" campaign map.yaml --out campaign --threads 1 --quiet
"$freefloat" analyze delay-margin "$root/scenarios/wall.yaml" --map 3 --methods direct,fused --out margin --quiet
"$freefloat" analyze contact-stability --velocity-gain 20 --position-gain 100 --bandwidth 100 --inertia-ratio 2 --plot stability.html --quiet
# A mesh: a tetrahedron as OBJ.
printf 'v 0 0 0\nv 300 0 0\nv 0 300 0\nv 0 0 300\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n' > body.obj
sed 's/^    mass:/    mesh: {file: body.obj, scale: 0.001}\n    mass:/' "$root/scenarios/deos-client.yaml" > mesh.yaml
"$freefloat" run mesh.yaml --set time.duration=4 --quiet --log none --out mesh
"$freefloat" run "$root/scenarios/envisat-capture.yaml" --set time.duration=12 --quiet --out arm
"$freefloat" run "$root/scenarios/planar-arm-emulation.yaml" --quiet --out emulation
# A bad mesh is one line, and nothing runs.
echo nonsense > body.obj
status=0
said=$("$freefloat" run mesh.yaml --quiet --out bad 2>&1) || status=$?
[ $status -eq 2 ] && [ "$(wc -l <<< "$said")" -eq 1 ] && grep -q 'mesh.yaml:[0-9]*:[0-9]*: mesh' <<< "$said" || fail "a bad mesh: $status $said"
timeout 600 node "$here/study.test.mjs" "$scratch" ${FF_SCREENS:+"$FF_SCREENS"}
