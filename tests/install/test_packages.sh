#!/usr/bin/env bash
# Debian packages: built from the files that git tracks, without an error of lintian's, and what is in them serves: the program and its
# shipped scenarios by name, every path that --help names, a manual page of every command, completions of bash and zsh, the module for
# Python. They are built quickly (noopt). In the long form as they are meant, and installed by apt into a fresh Debian 12 where
# debootstrap can make one.
set -eu
. "$FF_SOURCE_DIR/tests/need.sh"
[ -n "${FF_TEST_PACKAGES-}${FF_TEST_LONG-}" ] || { echo "skipped: packages are built by .ci/run and make test-long, or with FF_TEST_PACKAGES=1"; exit 77; }
need dpkg-buildpackage dh help2man lintian git
dpkg-checkbuilddeps "$FF_SOURCE_DIR/debian/control" 2> /dev/null || { echo "skipped: $(dpkg-checkbuilddeps "$FF_SOURCE_DIR/debian/control" 2>&1)"; exit 77; }
git -C "$FF_SOURCE_DIR" rev-parse --git-dir > /dev/null 2>&1 || { echo "skipped: not a checkout"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() { echo "FAIL: $*"; failures=$((failures + 1)); }
mkdir "$work/freefloat"
git -C "$FF_SOURCE_DIR" ls-files -z | tar -C "$FF_SOURCE_DIR" -c --null -T - | tar -x -C "$work/freefloat"
cd "$work/freefloat"
[ -n "${FF_TEST_LONG-}" ] || export DEB_BUILD_OPTIONS="noopt noautodbgsym"
dpkg-buildpackage -us -uc -b > ../build.log 2>&1 || { tail -30 ../build.log; echo "FAIL: dpkg-buildpackage"; exit 1; }
cd "$work"
lintian --fail-on error --suppress-tags no-manual-page ./*.changes 2> /dev/null || fail "lintian"
ls ./*.deb
for deb in ./*.deb; do dpkg-deb -x "$deb" root; done
root=$work/root
# -------------------------------------------------------------------------------------------------------------- the program
mkdir use && cd use
F=$root/usr/bin/freefloat
"$F" run deos-client --quiet --set time.duration=3 || true # the verdict may be that it fails; the files tell
[ -s out/deos-client/summary.json ] || fail "deos-client is not found by name"
"$F" papers aghili --short --quiet > /dev/null || fail "the papers' scenarios are not found"
"$F" --help | grep -q "are in $root/usr/share/freefloat" || fail "--help does not say where its files are"
commands=$("$F" --help | sed -n 's/^  \([a-z]*\) .*/\1/p')
[ "$(echo "$commands" | wc -l)" -ge 15 ] || fail "few commands: $commands"
for command in "" $commands; do
  # shellcheck disable=SC2086
  for path in $("$F" $command --help | grep -oE '(docs|scenarios|campaigns|examples)/[a-zA-Z0-9_/.-]*[a-z]'); do
    [ -e "$root/usr/share/freefloat/$path" ] || fail "$command --help names $path, which is not there"
  done
  [ -s "$root/usr/share/man/man1/freefloat${command:+-$command}.1.gz" ] || fail "no manual page of ${command:-freefloat}"
done
# ------------------------------------------------------------------------------------------------------------- completions
# complete WORDS...: what bash offers for the last word
offers() { # the variables are the completion's
  bash -c '. /usr/share/bash-completion/bash_completion; . "$0"
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE} COMPREPLY=()
    _freefloat; echo "${COMPREPLY[*]}"' "$root/usr/share/bash-completion/completions/freefloat" "$@"
}
said=$(offers freefloat camp); [ "$said" = campaign ] || fail "bash offers '$said' for camp"
said=$(offers freefloat run --meth); [ "$said" = --method ] || fail "bash offers '$said' for --meth"
said=$(offers freefloat run deos); [ "$said" = deos-client ] || fail "bash offers '$said' for deos"
said=$(offers freefloat analyze delay); [ "$said" = delay-margin ] || fail "bash offers '$said' for delay"
if command -v zsh > /dev/null; then
  zsh -n "$root/usr/share/zsh/vendor-completions/_freefloat" || fail "zsh cannot read its completions"
  # a shell of its own on a terminal of its own: what it shows after a tab, for which it has a minute
  said=$(zsh -f -c 'zmodload zsh/zpty; zpty z zsh -f -i
    zpty -w z "PS1=; stty cols 200 rows 50; fpath=($1 \$fpath); autoload -U compinit; compinit -u -D; setopt nolistbeep; print READY"
    local all= part; integer n
    for ((n = 0; n < 600; n++)) { zpty -r -t z part && all+=$part || sleep 0.1; [[ $all == *$'"'\nREADY'"'* ]] && break }
    zpty -w -n z "freefloat run --meth"$'"'\t'"'
    for ((n = 0; n < 600; n++)) { zpty -r -t z part && all+=$part || sleep 0.1; [[ $all == *--method* ]] && break }
    print -r -- $all' zsh "$root/usr/share/zsh/vendor-completions" 2> /dev/null | sed 's/\x1b\[[0-9;?]*[a-zA-Z]//g')
  case $said in *--method*) ;; *) fail "zsh does not complete --meth: $said" ;; esac
else
  without "zsh's completions: zsh is not there"
fi
# ------------------------------------------------------------------------------------------------------------------ Python
cat > use.py <<'P'
import freefloat as ff
r = ff.run("deos-client", method="fused", set={"satellites.client.mass": 300, "time.duration": 3})
assert len(r.columns["client.velocity.z"]) == 751 and r.summary["method"] == "fused"
assert ff.__file__.startswith(__import__("os").environ["ROOT"]), ff.__file__
print("python3-freefloat", ff.__version__)
P
libraries=$(dirname "$(find "$root/usr/lib" -name 'libfreefloat-host.so.1')")
ROOT=$root LD_LIBRARY_PATH=$libraries PYTHONPATH=$root/usr/lib/python3/dist-packages /usr/bin/python3 use.py || fail "the module for Python"
# ------------------------------------------------------------------------------------------------- a fresh Debian, by apt
if [ -n "${FF_TEST_LONG-}" ]; then
  mirror=$(sed -n 's/^URIs: *//p; s/^deb [^h]*\(http[^ ]*\).*/\1/p' /etc/apt/sources.list /etc/apt/sources.list.d/* 2> /dev/null | head -1)
  if [ "$(id -u)" = 0 ] && command -v debootstrap > /dev/null && debootstrap --variant=minbase bookworm "$work/debian" "$mirror" > "$work/debootstrap.log" 2>&1; then
    trap 'umount "$work/debian/proc" 2> /dev/null; rm -rf "$work"' EXIT
    mount -t proc proc "$work/debian/proc"
    mkdir "$work/debian/debs"
    cp "$work"/*.deb "$work/debian/debs"
    chroot "$work/debian" sh -euc 'export DEBIAN_FRONTEND=noninteractive; apt-get update -q; cd /debs
      apt-get install -y -q --no-install-recommends ./freefloat_*.deb ./libfreefloat*.deb ./python3-freefloat*.deb
      cd /root; freefloat compare deos-client --methods ideal,fused
      python3 -c "import freefloat as ff; print(ff.run(\"deos-client\", method=\"fused\").summary[\"verdict\"])"' || fail "a fresh Debian"
  else
    without "a fresh Debian: debootstrap, root's rights or the archive are not there"
  fi
fi
ended
