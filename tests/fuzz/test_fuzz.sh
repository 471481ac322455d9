#!/usr/bin/env bash
# Every parser of foreign bytes under libFuzzer: 5 s a target, 10 minutes with FF_TEST_LONG=1.
exec bash "$(dirname "$0")/run.sh"
