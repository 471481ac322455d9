#!/usr/bin/env bash
# Each file of host/ and programs/ includes what it uses (tools/includes), whatever is compiled together; and the check sees what it looks for.
set -u
. "$FF_SOURCE_DIR/tests/need.sh"
need python3
includes=$FF_SOURCE_DIR/tools/includes
failures=0
"$includes" "$FF_SOURCE_DIR" || failures=1

small=$(mktemp -d)
trap 'rm -rf "$small"' EXIT
mkdir -p "$small"/{lib/include/freefloat,host/text,host/run,programs/freefloat}
cat > "$small/host/text/text.h" <<'C'
#include <stdio.h>
#include "freefloat/base.h"
#define FF_TEXT_MAX 80
typedef struct ff_text {
    ff_vec3 at;
} ff_text;
enum { FF_TEXT_LEFT, FF_TEXT_RIGHT };
int ff_text_write(FILE *file, const ff_text *text);
C
echo 'typedef struct { double x; } ff_vec3;' > "$small/lib/include/freefloat/base.h"
echo 'void ff_run(void);' > "$small/host/run/run.h"
# sees PATTERN SOURCE: run.c with this text is refused with PATTERN; an empty PATTERN: it is not
sees() {
  local said status=0
  printf '%s\n' "$2" > "$small/host/run/run.c"
  said=$("$includes" "$small") || status=$?
  if [ -z "$1" ]; then [ $status = 0 ]; else [ $status = 1 ] && grep -qE "$1" <<< "$said"; fi || { echo "FAIL: $2: $said"; failures=1; }
}
sees "" '#include "text/text.h"
void ff_run(void) { ff_vec3 at; ff_text t = {at}; ff_text_write(stdout, &t); }'
sees "" 'static int ff_text_write(void) { return 0; } /* its own; ff_text is only said here: "ff_text" */'
sees "host/run/run.c uses ff_text_write and does not include host/text/text.h" '#include "run.h"
void ff_run(void) { ff_text_write(0, 0); }'
sees "uses FF_TEXT_MAX" 'int ff_run[FF_TEXT_MAX];'
sees "uses FF_TEXT_RIGHT" 'int ff_run(void) { return FF_TEXT_RIGHT; }'
sees "uses ff_vec3 and does not include lib/include/freefloat/base.h" 'ff_vec3 ff_run(void);'
sees "uses memcpy and does not include <string.h>" '#include "text/text.h"
void ff_run(void) { memcpy(0, 0, 0); }'
sees "uses bool and does not include <stdbool.h>" 'bool ff_run(void);'
exit $failures
