# shellcheck shell=bash
# Sourced by shell tests, so that nothing passes because a tool is missing. CTest lists a test that returns 77 as skipped.
# need TOOL...: without one of them the test says so and is skipped.
need() {
  local tool
  for tool; do
    command -v "$tool" > /dev/null || { echo "skipped: needs $tool (tools/setup.sh installs it)"; exit 77; }
  done
}
# without "what: why": a part that cannot run here; the rest does, and `ended` then reports the test as skipped.
left_out=
without() { echo "left out: $*"; left_out=yes; }
# The last line of a test that counts its failures.
ended() {
  [ "${failures:-0}" -eq 0 ] || exit 1
  [ -z "$left_out" ] || exit 77
  exit 0
}
