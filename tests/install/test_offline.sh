#!/usr/bin/env bash
# The pages are built where npm's registry cannot be reached, and where there is no npm: the plain ones stand in, it says what is missing,
# and the build continues. A page that was bundled before is kept by nothing: what is written is whole.
set -u
. "$FF_SOURCE_DIR/tests/expect.sh"
need node
mkdir web && cp -r "$FF_SOURCE_DIR"/web/{build.mjs,package.json,package-lock.json,.npmrc,plain.html,plain_live.html,src} web
plain() { # OUT: both pages are the plain ones
  cmp -s "$1/report.html" web/plain.html || fail "$1: report.html is not the plain page"
  cmp -s "$1/live.html" web/plain_live.html || fail "$1: live.html is not the plain page"
}
missing="report.html and the live page will be plain.*delete"
# port 9 of this machine refuses at once; the cache is empty, so nothing can be taken from it
if command -v npm > /dev/null; then
  expect 0 "$missing" env npm_config_registry=http://127.0.0.1:9/ npm_config_cache="$PWD/cache" node web/build.mjs "$PWD/a"
  plain a
else
  without "an unreachable registry: no npm"
fi
# the hashes in their policies are those of their own scripts and styles, or a browser runs nothing
mkdir renewed && cp -r web renewed && node renewed/web/build.mjs --plain
for page in plain.html plain_live.html; do cmp -s web/$page renewed/web/$page || fail "$page: run node web/build.mjs --plain"; done
mkdir bin && ln -s "$(command -v node)" bin/node
expect 0 "$missing" env PATH="$PWD/bin" node web/build.mjs "$PWD/b"
plain b
# packages that are there but do not load (a copy from another machine)
mkdir -p web/node_modules/esbuild && cp web/package-lock.json web/node_modules/.package-lock.json
echo '{"name": "esbuild", "version": "0.0.0", "main": "none.js"}' > web/node_modules/esbuild/package.json
expect 0 "$missing" env PATH="$PWD/bin" node web/build.mjs "$PWD/c"
plain c
# CMake without Node: configured, and it says so
if command -v cmake > /dev/null; then
  expect 0 "report.html and the live page will be plain" cmake -S "$FF_SOURCE_DIR" -B tree -G Ninja -DNODE_PROGRAM=NODE_PROGRAM-NOTFOUND -DFF_WEB=OFF
  grep -q "plain_live.html" tree/build.ninja || fail "the live page of a build without Node is not the plain one"
fi
ended
