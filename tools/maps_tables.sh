#!/usr/bin/env bash
# Fills the tables of docs/maps.md from the campaigns' results, so that no number there is typed by hand.
#   tools/maps_tables.sh [PAGE] [FOLDER]      docs/maps.md, out/campaigns
# A table stands between two marks and has one row for each method:
#   <!-- table CAMPAIGN: STAT; STAT ... -->                one column for each STAT
#   <!-- table CAMPAIGN over COLUMN[a,b]: STAT -->         one for each value of COLUMN, or for each range between a, b
#   <!-- table CAMPAIGN where COLUMN=VALUE: ... -->        some of the rows
#   <!-- /table -->
# STAT: max|min|median|q95|count METRIC[*FACTOR], share METRIC<=VALUE [METRIC>=VALUE ...] in %, or
# `STAT as HEAD` names its column;
# border METRIC<=VALUE along COLUMN: the last of its values up to which all keep it. COLUMN may be the end of a name.
set -eu
cd "$(dirname "$0")/.."
page=${1:-docs/maps.md} folder=${2:-out/campaigns}
new=$(mktemp)
trap 'rm -f "$new"' EXIT
awk -v folder="$folder" '
function split_csv(line, field,   n, i, c, quoted, text) {
    n = 0; text = ""; quoted = 0
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (c == "\"") quoted = !quoted
        else if (c == "," && !quoted) { field[++n] = text; text = "" }
        else text = text c
    }
    field[++n] = text
    return n
}
function fail(text) { print "maps_tables: " text > "/dev/stderr"; bad = 1; exit 1 }
function column(name,   i, n) {
    if (name in index_of) return index_of[name]
    for (i = 1; i <= columns; i++) {
        n = length(head[i]) - length(name)
        if (n > 0 && substr(head[i], n) == "." name) return i
    }
    fail(file ": no column " name)
}
function read_csv(name,   line, i, field, n) {
    file = folder "/" name "/results.csv"
    split("", cell); split("", index_of); split("", head); split("", method); rows = methods = 0
    if ((getline line < file) <= 0) fail(file ": cannot be read")
    columns = split_csv(line, head)
    for (i = 1; i <= columns; i++) index_of[head[i]] = i
    split("", seen)
    while ((getline line < file) > 0) {
        split_csv(line, field); rows++
        for (i = 1; i <= columns; i++) cell[rows, i] = field[i]
        if (!(field[2] in seen)) { seen[field[2]] = 1; method[++methods] = field[2] }
    }
    close(file)
}
function sort_values(v, low, high,   i, last, t) { # quicksort
    while (low < high) {
        t = v[int((low + high) / 2)]; v[int((low + high) / 2)] = v[low]; v[low] = t; last = low
        for (i = low + 1; i <= high; i++) if (v[i] < v[low]) { last++; t = v[last]; v[last] = v[i]; v[i] = t }
        t = v[low]; v[low] = v[last]; v[last] = t
        if (last - low < high - last) { sort_values(v, low, last - 1); low = last + 1 }
        else { sort_values(v, last + 1, high); high = last - 1 }
    }
}
function keeps(row, condition,   part, value) { # METRIC<=VALUE or METRIC>=VALUE; no value keeps nothing
    if (split(condition, part, /[<>]=/) != 2) fail("no condition: " condition)
    value = cell[row, column(part[1])]
    if (value == "") return 0
    return condition ~ /<=/ ? value + 0 <= part[2] + 0 : value + 0 >= part[2] + 0
}
function show(x) { return x == "" ? "-" : sprintf("%.3g", x) }
# of the rows in chosen[1..count]
function stat(what,   word, n, part, c, i, j, good, v, m, factor, at, lost, low, key) {
    n = split(what, word, " ")
    if (word[1] == "share") {
        for (i = 1; i <= count; i++) {
            good = 1
            for (j = 2; j <= n; j++) good = good && keeps(chosen[i], word[j])
            m += good
        }
        if (!count || m == 0 || m == count) return count ? 100 * m / count : "-"
        return sprintf(m > 0.999 * count || m < 0.001 * count ? "%.2f" : "%.1f", 100 * m / count)
    }
    if (word[1] == "border") { # the least value at which one fails, and the largest below it
        c = column(word[4]); lost = ""
        for (i = 1; i <= count; i++) if (!keeps(chosen[i], word[2])) {
            at = cell[chosen[i], c] + 0
            if (lost == "" || at < lost) lost = at
        }
        low = ""
        for (i = 1; i <= count; i++) {
            at = cell[chosen[i], c] + 0
            if ((lost == "" || at < lost - 1e-9 * lost) && (low == "" || at > low)) low = at
        }
        return low == "" ? "-" : (lost == "" ? ">= " : "") show(low)
    }
    split(word[2], part, "*"); factor = part[2] == "" ? 1 : part[2]; c = column(part[1]); m = 0
    for (i = 1; i <= count; i++) if (cell[chosen[i], c] != "") v[++m] = cell[chosen[i], c] * factor
    if (word[1] == "count") return m
    if (!m) return "-"
    sort_values(v, 1, m)
    if (word[1] == "max") return show(v[m])
    if (word[1] == "min") return show(v[1])
    if (word[1] == "median") return show(v[int((m + 1) / 2)])
    if (word[1] == "q95") return show(v[int(0.95 * m + 0.5)])
    fail("no statistic: " word[1])
}
function choose(name, over, low, high,   i, x) { # rows of a method whose column `over` lies in [low, high)
    count = 0
    for (i = 1; i <= rows; i++) {
        if (cell[i, 2] != name || (filter && cell[i, filter] + 0 != filter_value + 0)) continue
        x = over ? cell[i, over] : 0
        if (over && (x == "" || x + 0 < low || x + 0 >= high)) continue
        chosen[++count] = i
    }
}
function table(spec,   at, head_part, word, n, i, j, over, edge, edges, values, v, line, what, whats, name, close_to, label) {
    at = index(spec, ": ")
    head_part = substr(spec, 1, at - 1); whats = split(substr(spec, at + 2), what, "; ")
    n = split(head_part, word, " ")
    read_csv(word[1])
    filter = 0; over = 0; edges = 0
    for (i = 2; i < n; i += 2) {
        if (word[i] == "where") { split(word[i + 1], v, "="); filter = column(v[1]); filter_value = v[2] }
        else if (word[i] == "over") {
            name = word[i + 1]
            if (match(name, /\[.*\]/)) {
                edges = split(substr(name, RSTART + 1, RLENGTH - 2), edge, ",")
                name = substr(name, 1, RSTART - 1)
            }
            over = column(name)
        } else fail("no word: " word[i])
    }
    line = "| |"; values = 0
    for (i = 1; i <= whats; i++) if ((at = index(what[i], " as ")) > 0) { label[i] = substr(what[i], at + 4); what[i] = substr(what[i], 1, at - 1) } else label[i] = what[i]
    if (!over) for (i = 1; i <= whats; i++) line = line " " label[i] " |"
    else if (edges) {
        for (i = 1; i <= edges + 1; i++)
            line = line (i == 1 ? " < " edge[1] : i > edges ? " >= " edge[edges] : " " edge[i - 1] " - " edge[i]) " |"
        values = edges + 1
    } else {
        split("", seen)
        for (i = 1; i <= rows; i++) if (cell[i, over] != "" && !((sprintf("%.6g", cell[i, over])) in seen)) {
            seen[sprintf("%.6g", cell[i, over])] = 1; v[++values] = cell[i, over] + 0
        }
        sort_values(v, 1, values)
        for (i = 1; i <= values; i++) line = line " " sprintf("%.4g", v[i]) " |"
    }
    print line
    line = "|---|"
    for (i = 1; i <= (over ? values : whats); i++) line = line "---|"
    print line
    for (j = 1; j <= methods; j++) {
        line = "| `" method[j] "` |"
        if (!over) { choose(method[j], 0, 0, 0); for (i = 1; i <= whats; i++) line = line " " stat(what[i]) " |" }
        for (i = 1; over && i <= values; i++) {
            if (edges) choose(method[j], over, i == 1 ? -1e300 : edge[i - 1], i > edges ? 1e300 : edge[i])
            else { close_to = 2e-6 * (v[i] < 0 ? -v[i] : v[i]); choose(method[j], over, v[i] - close_to - 1e-300, v[i] + close_to + 1e-300) }
            line = line " " stat(what[1]) " |"
        }
        print line
    }
}
/^<!-- table / {
    print; skipping = 1
    spec = $0; sub(/^<!-- table /, "", spec); sub(/ -->$/, "", spec)
    print ""
    table(spec)
    print ""
    next
}
/^<!-- \/table -->/ { skipping = 0 }
!skipping
END { if (skipping && !bad) { print "maps_tables: a table has no end" > "/dev/stderr"; exit 1 } }
' "$page" > "$new"
cat "$new" > "$page"
