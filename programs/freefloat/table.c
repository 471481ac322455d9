/* Tables on the terminal: no line is wider than 80 columns. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "text/message.h"

void ff_table_init(ff_table *table, int columns) {
    *table = (ff_table){.columns = columns < FF_TABLE_COLUMNS ? columns : FF_TABLE_COLUMNS, .keys = 1};
}

void ff_table_add(ff_table *table, const char *format, ...) {
    if (table->rows == table->capacity) {
        const int capacity = table->capacity ? 2 * table->capacity : 16;
        void *cell = realloc(table->cell, (size_t)(capacity * table->columns) * sizeof *table->cell);
        if (!cell) {
            ff_cli_error("no memory for a line of the table");
            table->failed = true;
            return;
        }
        table->cell = cell;
        table->capacity = capacity;
    }
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ff_flatten(text);
    const char *c = text;
    for (int i = 0; i < table->columns; i++) {
        const size_t n = strcspn(c, "|");
        snprintf(table->cell[table->rows * table->columns + i], sizeof *table->cell, "%.*s", (int)n, c);
        c += n + (c[n] == '|');
    }
    table->rows++;
}

/* Columns on the screen, not bytes: continuation bytes of UTF-8 take none. */
static int width(const char *text) {
    int n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xC0u) != 0x80u;
    return n;
}

static bool is_number(const char *text) {
    char *end;
    if (*text == 0)
        return true;
    strtod(text, &end);
    if (end != text && strncmp(end, " +- ", 4) == 0)
        strtod(end + 4, &end);
    while (*end == ' ' || *end == '%')
        end++;
    return end != text && *end == 0;
}

enum { SCREEN = 80, HEAD_LINES = 6 };

/* One column as it is printed: a heading may be broken between its words, down to the width of its values. */
typedef struct column {
    int at;                  /* in the table */
    int values, word, whole; /* widths of the values, of the heading's longest word, of the heading */
    int size;                /* width on the screen */
    bool numbers;            /* set flush right */
    bool empty;              /* no row has a value: it is not printed */
} column;

static column measure(const ff_table *table, int c) {
    column m = {.at = c, .numbers = table->rows > 1, .empty = table->rows > 1 && c >= table->keys};
    for (int r = 1; r < table->rows; r++) {
        const char *cell = table->cell[r * table->columns + c];
        m.values = width(cell) > m.values ? width(cell) : m.values;
        const bool none = strcmp(cell, "-") == 0;
        m.numbers = m.numbers && (none || is_number(cell) || strcmp(cell, "open") == 0);
        m.empty = m.empty && none;
    }
    const char *head = table->cell[c];
    m.whole = width(head);
    for (const char *w = head; *w; w += strspn(w, " ")) {
        char word[sizeof *table->cell];
        const size_t n = strcspn(w, " ");
        snprintf(word, sizeof word, "%.*s", (int)n, w);
        m.word = width(word) > m.word ? width(word) : m.word;
        w += n;
    }
    m.size = m.whole > m.values ? m.whole : m.values;
    return m;
}

/* The heading in lines of at most `size`; how many. '~' is a space where it is not broken. */
static int break_head(const char *head, int size, char line[HEAD_LINES][sizeof(((ff_table *)0)->cell[0])]) {
    int lines = 0;
    for (const char *w = head; *w; w += strspn(w, " ")) {
        char longer[2 * sizeof *line];
        const size_t n = strcspn(w, " ");
        if (lines) {
            snprintf(longer, sizeof longer, "%s %.*s", line[lines - 1], (int)n, w);
            if (width(longer) <= size || lines == HEAD_LINES) {
                snprintf(line[lines - 1], sizeof *line, "%.*s", (int)sizeof *line - 1, longer);
                w += n;
                continue;
            }
        }
        snprintf(line[lines++], sizeof *line, "%.*s", (int)n, w);
        w += n;
    }
    for (int i = 0; i < lines; i++)
        for (char *c = line[i]; *c; c++)
            *c = *c == '~' ? ' ' : *c;
    return lines;
}

/* A line of cells; nothing stands behind the last one. */
static void print_line(const column *m, int columns, const char *const *text, bool head) {
    int last = columns;
    while (last > 1 && !*text[last - 1])
        last--;
    for (int i = 0; i < last; i++) {
        const int pad = m[i].size - width(text[i]);
        printf("%s%*s%s%s%s%*s", i ? "  " : "", m[i].numbers ? pad : 0, "", head ? ff_cli_bold() : "",
               text[i], head ? ff_cli_plain() : "", m[i].numbers || i + 1 == last ? 0 : pad, "");
    }
    fputc('\n', stdout);
}

static void print_block(const ff_table *table, const column *m, int columns) {
    char line[FF_TABLE_COLUMNS][HEAD_LINES][sizeof *table->cell];
    const char *text[FF_TABLE_COLUMNS];
    int lines[FF_TABLE_COLUMNS], most = 0;
    for (int i = 0; i < columns; i++) {
        lines[i] = break_head(table->cell[m[i].at], m[i].size, line[i]);
        most = lines[i] > most ? lines[i] : most;
    }
    for (int h = 0; h < most; h++) {
        for (int i = 0; i < columns; i++) /* the last line of each heading stands on the values */
            text[i] = h + lines[i] < most ? "" : line[i][h + lines[i] - most];
        print_line(m, columns, text, true);
    }
    for (int r = 1; r < table->rows; r++) {
        for (int i = 0; i < columns; i++)
            text[i] = table->cell[r * table->columns + m[i].at];
        print_line(m, columns, text, false);
    }
}

/* Breaks headings, the one that yields most first, until the columns fit or no heading can be broken. */
static void narrow(column *m, int columns, int screen) {
    int total = -2;
    for (int i = 0; i < columns; i++)
        total += m[i].size + 2;
    for (int best = 0; total > screen && best >= 0; total--) {
        best = -1;
        for (int i = 0, gain = 0; i < columns; i++) {
            const int least = m[i].word > m[i].values ? m[i].word : m[i].values;
            if (m[i].size - least > gain) {
                gain = m[i].size - least;
                best = i;
            }
        }
        if (best >= 0)
            m[best].size--;
    }
}

void ff_table_print(const ff_table *table) {
    column m[FF_TABLE_COLUMNS];
    int columns = 0;
    for (int c = 0; c < table->columns; c++) {
        m[columns] = measure(table, c);
        columns += !m[columns].empty;
    }
    narrow(m, columns, SCREEN);
    const int keys = table->keys < columns ? table->keys : columns;
    for (int from = keys, to = keys; from == keys || from < columns; from = to) {
        column block[FF_TABLE_COLUMNS];
        int used = -2;
        for (int i = 0; i < keys; i++) {
            block[i] = m[i];
            used += m[i].size + 2;
        }
        for (to = from; to < columns && (to == from || used + 2 + m[to].size <= SCREEN); to++) {
            block[keys + to - from] = m[to];
            used += 2 + m[to].size;
        }
        print_block(table, block, keys + to - from);
        if (to == from)
            break;
    }
}

void ff_table_free(ff_table *table) {
    free(table->cell);
    *table = (ff_table){0};
}
