# shellcheck shell=bash
# Sourced by shell tests, so that nothing passes because a tool is missing. CTest lists a test that returns 77 as skipped.
# need TOOL...: without one of them the test says so and is skipped.
need() {
  local tool
  for tool; do
    command -v "$tool" > /dev/null || { echo "skipped: needs $tool (tools/setup.sh installs it)"; exit 77; }
  done
}
# behind FILE COMMAND...: in the background, its words in FILE, which is empty from now on. A shell opens a background program's files only in
# the child: whoever reads FILE meanwhile would find the words of the program before. The caller takes $!. It reads $behind_from, else nothing.
behind() {
  local words=$1
  shift
  rm -f "$words"
  : > "$words"
  "$@" < "${behind_from:-/dev/null}" > "$words" 2>&1 &
}
# packages FROM INTO: the npm packages of FROM's lock file, in INTO/node_modules. One test at a time installs them, since npm first deletes
# the folder. Skipped where the registry cannot be reached.
packages() {
  need node npm
  mkdir -p "$2"
  local status=0
  (
    exec 9< "$2"
    flock 9
    cmp -s "$1/package-lock.json" "$2/node_modules/.ready" && exit 0
    [ "$1" -ef "$2" ] || cp "$1/package.json" "$1/package-lock.json" "$2" || exit 1
    cd "$2" || exit 1
    # npm's own patience with a registry that is not there is two minutes
    export npm_config_fetch_retries=1 npm_config_fetch_retry_mintimeout=500 npm_config_fetch_retry_maxtimeout=1000
    if npm ci --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel=error; then
      cp package-lock.json node_modules/.ready
    elif npm ping --loglevel=silent > /dev/null; then
      exit 1
    else
      exit 77
    fi
  ) || status=$?
  case $status in
    0) ;;
    77) echo "skipped: the npm registry cannot be reached, and the packages of $1 are not in npm's cache"; exit 77 ;;
    *) echo "npm ci in $2 failed"; exit 1 ;;
  esac
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
