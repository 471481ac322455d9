#!/usr/bin/env bash
# Installs what the build and the tests need on Debian 12, as root or with sudo. Quick when nothing is missing.
#   tools/setup.sh         everything for make run, make bench and make test
#   tools/setup.sh run     for make run alone: without tests, MPI, MuJoCo, ROS 2 (Cyclone DDS), browser and the checking tools
#   tools/setup.sh python  for make python and make wheel: what make run needs, and Python with cffi and numpy
#   tools/setup.sh deb     for make deb
#   tools/setup.sh playground   for make playground: that, and clang for WebAssembly
#   tools/setup.sh bench   for make bench: that, MuJoCo, MPI, valgrind and cyclictest
set -eu

build="gcc libc6-dev make cmake ninja-build pkg-config libyaml-dev libxml2-dev libsundials-dev zlib1g-dev libzstd-dev libwebsockets-dev"
pages="nodejs npm"
bench="libmujoco-dev valgrind rt-tests python3 libopenmpi-dev openmpi-bin"
wasm="clang lld llvm wasi-libc libclang-rt-14-dev-wasm32 dpkg-dev"
python="python3 python3-cffi python3-numpy"
debian="build-essential dpkg-dev debhelper dh-python help2man bash-completion libopenmpi-dev cyclonedds-dev"
check="ccache $pages $python $wasm $debian lintian zsh python3-matplotlib python3-pandas mypy python3-pip python3-venv python3-jsonschema python3-yaml libcmocka-dev git g++ clang clang-format clang-tidy libclang-rt-14-dev binutils bsdutils util-linux iproute2 procps shellcheck chromium gcovr libfastrtps-dev libfastcdr-dev"

# Debian's npm alone brings some 600 packages. Where a Node is there, make run does without them: with no npm beside it the report is the plain one.
command -v node > /dev/null || build="$build $pages"
case ${1:-all} in
  run) packages=$build ;;
  python) packages="$build $python" ;;
  playground) packages="$build $pages $wasm" ;;
  bench) packages="$build $bench" ;;
  deb) packages="$build $debian $python" ;;
  *) packages="$build $bench $check" ;;
esac

# A tool that is there from elsewhere (a newer Node.js, say) counts as installed.
have() {
  case $1 in
    nodejs) command -v node >/dev/null ;;
    rt-tests) command -v cyclictest >/dev/null ;;
    npm | clang | git | make | gcc | g++ | cmake | clang-format | clang-tidy | python3 | shellcheck) command -v "$1" >/dev/null ;;
    *) [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ] ;;
  esac
}
missing=""
for package in $packages; do
  have "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null; then
  echo "setup: please install:$missing" >&2
  exit 1
fi
sudo=""
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || { echo "setup: run as root, or install sudo, to get:$missing" >&2; exit 1; }
  sudo="sudo"
fi
echo "setup: installing$missing"
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -q
# shellcheck disable=SC2086
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing
