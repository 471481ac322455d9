#!/usr/bin/env bash
# freefloat analyze contact-stability: the sentence, the keys, one-line errors, exit status.
set -u
. "$FF_SOURCE_DIR/tests/expect.sh"
says() { # what, pattern, text
    grep -qE -- "$2" <<<"$3" || fail "$1: expected /$2/ in: $3"
}
narrow() { ! awk 'length($0) > 80' <<<"$1" | grep . || fail "wider than 80 columns"; }
joined() { tr '\n' ' ' <<<"$1" | tr -s ' '; } # a sentence is broken at 80 columns
base=(analyze contact-stability --velocity-gain 20 --position-gain 100)

text=$("$FREEFLOAT" analyze contact-stability --velocity-gain 32 --position-gain 256 --bandwidth 60 --inertia-ratio 3.0) || fail "exit status $?"
narrow "$text"
says sentence '^stable from inertia ratio 1 up to 7.5; your 3.0 amplifies 22.6 rad/s by 2.6$' "$text"

says band '^stable from inertia ratio 1 up to 5$' "$("$FREEFLOAT" "${base[@]}" --bandwidth 25)"

json=$("$FREEFLOAT" "${base[@]}" --bandwidth 25 --inertia-ratio 4.9 --json) || fail "exit status $?"
for key in q_critical q_low q_high growth_rate peak_transmissivity peak_frequency_radps stable; do
    says key "\"$key\": " "$json"
done
says growth '"growth_rate": -0.0409' "$json"
says stable '"stable": true' "$json"
says delay '"q_low": 0.539.*"q_high": 3.09' "$("$FREEFLOAT" "${base[@]}" --delay 0.04 --json | tr '\n' ' ')"
says unstable '"peak_transmissivity": null.*"stable": false' \
    "$("$FREEFLOAT" "${base[@]}" --bandwidth 25 --inertia-ratio 5.1 --json | tr '\n' ' ')"
says help 'example: ' "$("$FREEFLOAT" analyze contact-stability --help)"
says list 'contact-stability' "$("$FREEFLOAT" analyze --help)"

refuse() { # pattern, arguments
    local pattern=$1 status
    shift
    text=$("$FREEFLOAT" "$@" 2>&1)
    status=$?
    [ $status -eq 2 ] || fail "$*: exit status $status, expected 2"
    [ "$(wc -l <<<"$text")" -eq 1 ] || fail "$*: more than one line: $text"
    says "$*" "$pattern" "$text"
}
refuse 'unknown analysis' analyze nonsense
refuse "unknown analysis 'delay-margn' .did you mean 'delay-margin'" analyze delay-margn
refuse 'unknown option' "${base[@]}" --bandwith 25
refuse 'bandwidth or their delay' "${base[@]}"
refuse 'velocity-gain is missing' analyze contact-stability --position-gain 100 --bandwidth 25
refuse 'not a finite number' "${base[@]}" --bandwidth 25kg
refuse 'inertia ratio is -1' "${base[@]}" --bandwidth 25 --inertia-ratio -1
refuse 'needs a value' "${base[@]}" --bandwidth

refuse 'velocity' analyze contact-stability --velocity-gain 0 --position-gain 100 --bandwidth 25
refuse 'position' analyze contact-stability --velocity-gain 20 --position-gain -100 --bandwidth 25
says 'slow actuators' 'bandwidth 5 rad/s is below the controller.s, 10 rad/s' \
    "$("$FREEFLOAT" "${base[@]}" --bandwidth 5 --inertia-ratio 0.5 2>&1 >/dev/null)"

# Q from a scenario that emulates
here=$FF_SOURCE_DIR
says 'ratio of a scenario' '"eigenvalues": \[0.57' \
    "$("$FREEFLOAT" "${base[@]}" --bandwidth 25 --inertia-ratio "$here/scenarios/planar-arm-emulation.yaml" --json | tr -d '\n')"
says 'ratio of one joint' '"stable": true' \
    "$("$FREEFLOAT" "${base[@]}" --bandwidth 25 --contact-damping 100 --robot-inertia 1 --inertia-ratio "$here/scenarios/papers/aghili/appendix-e.yaml" --json | tr -d '\n')"
refuse "needs a scenario with the key 'emulation'" "${base[@]}" --bandwidth 25 --inertia-ratio "$here/scenarios/deos-client.yaml"
refuse 'no methods to compare' compare "$here/scenarios/planar-arm-emulation.yaml" --methods direct,tdpa

# go / no go: the table, the map, the sentence
json=$("$FREEFLOAT" analyze delay-margin "$here/scenarios/deos-client.yaml" --methods direct,tdpa --map 3 --out margin --json) || fail "exit status $?"
for key in w_tau frequency_radps rebound_ideal rebound_law rebound_theory peak_force_theory_N rebound peak_force_ratio largest_delay_s map go sentence; do
    says 'delay-margin' "\"$key\": " "$json"
done
says 'delay-margin: w tau' '"w_tau": 0.106' "$json"
says 'delay-margin: theory' '"rebound_theory": 1.1699|"rebound_theory": 1.17' "$json"
says 'delay-margin: no go' '"go": false' "$json"
[ "$(wc -l <margin/delay-margin.csv)" -eq 19 ] || fail "delay-margin.csv has not 19 lines"
says 'delay-margin: page' '</html>' "$(tail -1 margin/delay-margin.html)"
text=$("$FREEFLOAT" analyze delay-margin "$here/scenarios/wall.yaml" --map 0 --methods tdpa) || fail "exit status $?"
narrow "$text"
text=$(joined "$text")
says 'delay-margin: sentence' '^GO: tdpa at 16 ms of robot delay \(w tau 0.0506\) keeps the requirements; it keeps them up to' "$text"
refuse 'is not a method' analyze delay-margin "$here/scenarios/wall.yaml" --methods tpda
refuse 'allowed: 0 to 25' analyze delay-margin "$here/scenarios/wall.yaml" --map 99
refuse 'analyze contact-stability' analyze delay-margin "$here/scenarios/planar-arm-emulation.yaml"
refuse 'no contact' analyze delay-margin "$here/scenarios/wall.yaml" --quiet --set time.duration=0.1
refuse 'which scenario' analyze delay-margin

json=$("$FREEFLOAT" analyze workspace "$here/scenarios/deos-client.yaml" --json) || fail "exit status $?"
for key in inside_from_s outside_from_s inside_s reason ball_left_s singularity_margin sentence; do
    says 'workspace' "\"$key\": " "$json"
done
text=$("$FREEFLOAT" analyze workspace "$here/scenarios/deos-client.yaml" --set time.duration=600 --set contacts=[]) || fail "exit status $?"
narrow "$text"
text=$(joined "$text")
says 'workspace: sentence' 'its own motion is inside for .* outside from .* relative to the nominal motion it is inside for the whole 600 s' "$text"
refuse 'allowed: kr120, kr16, kr210' analyze workspace "$here/scenarios/deos-client.yaml" --arm ur10
refuse 'has no satellite' analyze workspace "$here/scenarios/planar-arm-emulation.yaml"

"$FREEFLOAT" "${base[@]}" --delay 0.04 --inertia-ratio 2 --plot plot.html >/dev/null || fail "exit status $?"
says plot '</html>' "$(tail -1 plot.html)"
ended
