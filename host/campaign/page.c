/* summary.json and report.html of a campaign. */
#include "campaign/output.h"

#include "record/version.h"
#include "report/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double parts[] = {0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0};
static const char *const part_names[] = {"min", "q05", "q25", "median", "q75", "q95", "max"};
enum { PARTS = 7 };

static void listed(ff_json *json, const ff_campaign *c, const ff_listed *run, const char *status) {
    const uint64_t index = run->slot / (uint64_t)c->methods;
    const int method = (int)(run->slot % (uint64_t)c->methods);
    char *command = ff_campaign_command(c, index, method);
    ff_json_open(json, NULL, '{');
    ff_json_integer(json, "index", (long long)index);
    ff_json_string(json, "method", c->method[method].label);
    if (isfinite(run->value)) {
        ff_json_string(json, "metric", c->metric[c->worst_by].name);
        ff_json_number(json, "value", run->value);
    }
    ff_json_string(json, "status", status);
    ff_json_string(json, "command", command);
    ff_json_close(json, '}');
    free(command);
}

char *ff_page_json(ff_output *o, double seconds) {
    const ff_campaign *c = o->campaign;
    char hash[40];
    snprintf(hash, sizeof hash, "%016llx%016llx", (unsigned long long)c->hash[0],
             (unsigned long long)c->hash[1]);
    ff_json json;
    ff_json_init(&json, true);
    ff_json_open(&json, NULL, '{');
    ff_json_string(&json, "campaign", c->name);
    ff_json_string(&json, "base", c->base);
    ff_json_string(&json, "version", ff_version());
    ff_json_string(&json, "hash", hash);
    ff_json_integer(&json, "seed", (long long)c->seed);
    ff_json_integer(&json, "samples", (long long)c->samples);
    ff_json_integer(&json, "runs", (long long)o->runs);
    ff_json_integer(&json, "failed", (long long)o->failed);
    ff_json_number(&json, "seconds", seconds);
    ff_json_open(&json, "methods", '{');
    for (int m = 0; m < c->methods; m++) {
        ff_json_open(&json, c->method[m].label, '{');
        for (int i = 0; i < c->metrics; i++) {
            ff_spread *s = &o->spread[m][i];
            ff_json_open(&json, c->metric[i].name, '{');
            ff_json_string(&json, "unit", c->metric[i].unit);
            ff_json_integer(&json, "count", (long long)s->count);
            ff_json_integer(&json, "missing", (long long)s->missing);
            for (int q = 0; q < PARTS; q++)
                ff_json_number(&json, part_names[q], ff_spread_quantile(s, parts[q]));
            ff_json_number(&json, "mean", s->count ? s->sum / (double)s->count : FF_NAN);
            ff_json_close(&json, '}');
        }
        ff_json_close(&json, '}');
    }
    ff_json_close(&json, '}');
    ff_json_open(&json, "worst", '[');
    for (int m = 0; m < c->methods; m++)
        for (int i = 0; i < o->worsts[m]; i++)
            listed(&json, c, &o->worst[m][i], "ok");
    ff_json_close(&json, ']');
    ff_json_open(&json, "failures", '[');
    for (int i = 0; i < o->faileds; i++)
        listed(&json, c, &o->listed[i], o->listed[i].reason);
    ff_json_close(&json, ']');
    ff_json_close(&json, '}');
    if (json.failed) {
        ff_json_free(&json);
        return NULL;
    }
    return json.text;
}

static void put_text(FILE *f, const char *text) {
    for (; *text; text++)
        if (*text == '<')
            fputs("&lt;", f);
        else if (*text == '&')
            fputs("&amp;", f);
        else
            fputc(*text, f);
}

static void put_run(FILE *f, const ff_campaign *c, const ff_listed *run, const char *status) {
    const int method = (int)(run->slot % (uint64_t)c->methods);
    const uint64_t index = run->slot / (uint64_t)c->methods;
    char *command = ff_campaign_command(c, index, method);
    fprintf(f, "<tr><td>%llu<td>", (unsigned long long)index);
    put_text(f, c->method[method].label);
    if (status) {
        fputs("<td>", f);
        put_text(f, status);
    } else
        fprintf(f, "<td class=n>%.6g", run->value);
    fputs("<td><code>", f);
    put_text(f, command ? command : "");
    fputs("</code>\n", f);
    free(command);
}

static const char head[] =
    "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">"
    "<style>body{font:14px/1.5 system-ui,sans-serif;max-width:1240px;margin:2em auto;padding:0 "
    "1em;color:#222}"
    "table{border-collapse:collapse;margin:1em 0}th,td{padding:3px 10px;border-bottom:1px solid "
    "#ddd;text-align:left;"
    "vertical-align:top}th{border-bottom:2px solid "
    "#888}.n{text-align:right;font-variant-numeric:tabular-nums}"
    "code{font-size:12px;word-break:break-all}svg{max-width:100%;height:auto;display:block;margin:1.5em 0}"
    "</style>\n";

char *ff_page_html(ff_output *o) {
    const ff_campaign *c = o->campaign;
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        return NULL;
    fputs(head, f);
    fputs("<title>", f);
    put_text(f, c->name);
    fputs("</title><h1>", f);
    put_text(f, c->name);
    fprintf(f, "</h1>\n<p>%llu samples, %d method%s, %llu runs, %llu failed. Base scenario <code>",
            (unsigned long long)c->samples, c->methods, c->methods > 1 ? "s" : "",
            (unsigned long long)o->runs, (unsigned long long)o->failed);
    put_text(f, c->base);
    fprintf(f, "</code>, seed %llu, freefloat %s.</p>\n", (unsigned long long)c->seed, ff_version());
    fputs("<h2>Values</h2><table><tr><th>metric<th>method<th>runs<th>missing", f);
    for (int q = 0; q < PARTS; q++)
        fprintf(f, "<th class=n>%s", part_names[q]);
    fputs("</tr>\n", f);
    for (int i = 0; i < c->metrics; i++)
        for (int m = 0; m < c->methods; m++) {
            ff_spread *s = &o->spread[m][i];
            fputs("<tr><td>", f);
            put_text(f, c->metric[i].name);
            if (*c->metric[i].unit)
                fprintf(f, " [%s]", c->metric[i].unit);
            fputs("<td>", f);
            put_text(f, c->method[m].label);
            fprintf(f, "<td class=n>%llu<td class=n>%llu", (unsigned long long)s->count,
                    (unsigned long long)s->missing);
            for (int q = 0; q < PARTS; q++) {
                const double value = ff_spread_quantile(s, parts[q]);
                if (isfinite(value))
                    fprintf(f, "<td class=n>%.4g", value);
                else
                    fputs("<td class=n>-", f);
            }
            fputs("</tr>\n", f);
        }
    fputs("</table>\n", f);
    if (c->maps)
        fputs("<h2>Maps</h2>\n", f);
    for (int i = 0; i < c->maps; i++) {
        char *svg = ff_figure_map(o, i);
        fputs(svg ? svg : "", f);
        free(svg);
    }
    fputs("<h2>Distributions</h2>\n", f);
    for (int i = 0; i < c->metrics; i++) {
        char *svg = c->metric[i].scenario_only ? NULL : ff_figure_bars(o, i);
        fputs(svg ? svg : "", f);
        free(svg);
    }
    fprintf(f, "<h2>Worst cases by ");
    put_text(f, c->metric[c->worst_by].name);
    fputs("</h2><table><tr><th>sample<th>method<th class=n>value<th>run it again</tr>\n", f);
    for (int m = 0; m < c->methods; m++)
        for (int i = 0; i < o->worsts[m]; i++)
            put_run(f, c, &o->worst[m][i], NULL);
    fputs("</table>\n", f);
    if (o->faileds) {
        fprintf(f, "<h2>Failed runs%s</h2><table><tr><th>sample<th>method<th>reason<th>run it again</tr>\n",
                o->failed > (uint64_t)o->faileds ? " (the first hundred)" : "");
        for (int i = 0; i < o->faileds; i++)
            put_run(f, c, &o->listed[i], o->listed[i].reason);
        fputs("</table>\n", f);
    }
    const bool bad = ferror(f) != 0;
    if (fclose(f) != 0 || bad) {
        free(text);
        return NULL;
    }
    return text;
}
