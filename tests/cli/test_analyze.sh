#!/bin/bash
# freefloat analyze contact-stability: the sentence, the keys, one-line errors, exit status.
set -u
[ -x "$FREEFLOAT" ] || { echo "no freefloat binary in this build"; exit 0; }
failed=0
expect() { # what, pattern, text
    grep -qE -- "$2" <<<"$3" || { echo "$1: expected /$2/ in: $3"; failed=1; }
}
base=(analyze contact-stability --velocity-gain 20 --position-gain 100)

text=$("$FREEFLOAT" analyze contact-stability --velocity-gain 32 --position-gain 256 --bandwidth 60 --inertia-ratio 3.0) || failed=1
expect sentence '^stable up to inertia ratio 7.5; your 3.0 amplifies 22.6 rad/s by 2.6$' "$text"

json=$("$FREEFLOAT" "${base[@]}" --bandwidth 25 --inertia-ratio 4.9 --json) || failed=1
for key in q_critical q_low q_high growth_rate peak_transmissivity peak_frequency_radps stable; do
    expect key "\"$key\": " "$json"
done
expect growth '"growth_rate": -0.0409' "$json"
expect stable '"stable": true' "$json"
expect delay '"q_low": 0.539.*"q_high": 3.09' "$("$FREEFLOAT" "${base[@]}" --delay 0.04 --json | tr '\n' ' ')"
expect unstable '"peak_transmissivity": null.*"stable": false' \
    "$("$FREEFLOAT" "${base[@]}" --bandwidth 25 --inertia-ratio 5.1 --json | tr '\n' ' ')"
expect help 'example: ' "$("$FREEFLOAT" analyze contact-stability --help)"
expect list 'contact-stability' "$("$FREEFLOAT" analyze --help)"

refuse() { # pattern, arguments
    local pattern=$1 status
    shift
    text=$("$FREEFLOAT" "$@" 2>&1)
    status=$?
    [ $status -eq 2 ] || { echo "$*: exit status $status, expected 2"; failed=1; }
    [ "$(wc -l <<<"$text")" -eq 1 ] || { echo "$*: more than one line: $text"; failed=1; }
    expect "$*" "$pattern" "$text"
}
refuse 'unknown analysis' analyze nonsense
refuse 'unknown option' "${base[@]}" --bandwith 25
refuse 'bandwidth or their delay' "${base[@]}"
refuse 'velocity-gain is missing' analyze contact-stability --position-gain 100 --bandwidth 25
refuse 'not a finite number' "${base[@]}" --bandwidth 25kg
refuse 'inertia ratio is -1' "${base[@]}" --bandwidth 25 --inertia-ratio -1
refuse 'needs a value' "${base[@]}" --bandwidth

text=$("$FREEFLOAT" papers aghili --json) || failed=1
expect 'papers: contact' '"ours": "0.3949, 0.3949"' "$text"
expect 'papers: peak' '"ours": "27.14, 27.14"' "$text"
expect 'papers: end' '"ours": "-1.6665, -1.6665"' "$text"
expect 'papers: constraint' '"ours": "-9.80[01]e-03"' "$text"
expect 'papers: force error' '"ours": "0.1667"' "$text"
expect 'papers: critical' '"paper": "5"' "$text"
expect 'papers: delay' '"ours": "0.539 to 3.091"' "$text"

plot=$(mktemp --suffix=.svg)
"$FREEFLOAT" "${base[@]}" --delay 0.04 --inertia-ratio 2 --plot "$plot" >/dev/null || failed=1
expect plot '</svg>' "$(tail -1 "$plot")"
rm -f "$plot"
exit $failed
