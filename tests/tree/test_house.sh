#!/usr/bin/env bash
# Includes point one way (tools/house), and the check sees each kind of fault in a small tree made for it.
set -u
. "$FF_SOURCE_DIR/tests/need.sh"
need python3
house=$FF_SOURCE_DIR/tools/house
failures=0
"$house" "$FF_SOURCE_DIR" || failures=1

small=$(mktemp -d)
trap 'rm -rf "$small"' EXIT
mkdir -p "$small"/{docs,lib/include/freefloat,lib/base,lib/loop,host/text,host/run,programs/p}
printf '| lib/ | holds |\n|---|---|\n| base | a |\n| loop (4) | b |\n\n| host/ | holds |\n|---|---|\n| text | c |\n| run | d |\n' > "$small/docs/design.md"
fresh() {
  echo '#include <math.h>' | tee "$small"/lib/include/freefloat/{base,loop}.h > "$small/lib/base/base.c"
  echo '#include "freefloat/base.h"' > "$small/lib/loop/loop.c"
  echo '#include <stdio.h>' | tee "$small"/host/text/{text.h,text.c} > "$small/host/run/run.h"
  printf '#include "text/text.h"\n#include "freefloat/loop.h"\n' > "$small/host/run/run.c"
  echo '#include "run/run.h"' > "$small/programs/p/main.c"
}
# sees PATTERN FILE LINE: LINE added to FILE gives status 1 and PATTERN
sees() {
  fresh
  echo "$3" >> "$small/$2"
  local said
  if said=$("$house" "$small") || ! grep -q "$1" <<< "$said"; then
    echo "FAIL: $3 in $2: $said"
    failures=1
  fi
}
fresh
"$house" "$small" > /dev/null || { echo "FAIL: a tree in order: $("$house" "$small")"; failures=1; }
sees "lib/base includes lib/loop" lib/base/base.c '#include "freefloat/loop.h"'
sees "lib/loop includes host/text" lib/loop/loop.c '#include "../../host/text/text.h"'
sees "host/text includes host/run" host/text/text.c '#include "run/run.h"'
sees "circle of 2 rooms: host/run, host/text" host/text/text.c '#include "run/run.h"'
sees "host/run includes programs" host/run/run.c '#include "p/main.c"'
sees "lib/ must not include <stdio.h>" lib/base/base.c '#include <stdio.h>'
sees "lib/ must not include <sys/time.h>" lib/include/freefloat/base.h '# include <sys/time.h>'
sees "<sys/socket.h> outside" host/run/run.c '#include <sys/socket.h>'
mkdir "$small/lib/extra"
sees "lib/extra: the table" lib/extra/extra.c '#include <math.h>'
exit $failures
