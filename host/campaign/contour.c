/* Lines in pictures: where the values of cells cross a level, and the columns that limits are read from. */
#include "campaign/output.h"

/* Between a and b as the axis is drawn. */
static double between(const ff_axis *axis, double a, double b, double part) {
    return axis->log ? a * pow(b / a, part) : a + part * (b - a);
}

static double value_of(const ff_cell *cell, bool mean) {
    if (!cell->count)
        return FF_NAN;
    return mean ? cell->sum / (double)cell->count : cell->most;
}

static bool meets(const ff_segment *s, int end, const ff_segment *other) {
    for (int i = 0; i < 2; i++)
        if (s->x[end] == other->x[i] && s->y[end] == other->y[i])
            return true;
    return false;
}

static void swap(ff_segment *a, ff_segment *b) {
    const ff_segment t = *a;
    *a = *b;
    *b = t;
}

static void turn(ff_segment *s) {
    *s = (ff_segment){{s->x[1], s->x[0]}, {s->y[1], s->y[0]}};
}

/* One piece after the other along each line, so that its dashes continue; open lines from their end. */
static void chain(ff_segment *segment, int count) {
    for (int i = 0; i < count; i++) {
        int next = -1;
        for (int j = i; i > 0 && j < count && next < 0; j++)
            if (meets(&segment[i - 1], 1, &segment[j]))
                next = j;
        for (int j = i; j < count && next < 0; j++)
            for (int end = 0; end < 2 && next < 0; end++) {
                bool open = true;
                for (int n = i; n < count && open; n++)
                    open = n == j || !meets(&segment[j], end, &segment[n]);
                if (!open)
                    continue;
                next = j;
                if (end == 1)
                    turn(&segment[j]);
            }
        swap(&segment[i], &segment[next < 0 ? i : next]);
        if (i > 0 && segment[i].x[1] == segment[i - 1].x[1] && segment[i].y[1] == segment[i - 1].y[1])
            turn(&segment[i]);
    }
}

/* Marching squares between the centres of the cells; a piece for each pair of sides that the level crosses.
 * Each side is cut from its lower corner, so that two cells find the same point on it. */
int ff_picture_contour(const ff_picture *p, const ff_cell *cell, bool mean, double level,
                       ff_segment *segment) {
    static const int side[4][4] = {{0, 0, 1, 0}, {1, 0, 1, 1}, {0, 1, 1, 1}, {0, 0, 0, 1}};
    int count = 0;
    for (int y = 0; y + 1 < p->y.count; y++)
        for (int x = 0; x + 1 < p->x.count; x++) {
            double cx[4], cy[4];
            int n = 0;
            for (int k = 0; k < 4; k++) {
                const int x0 = x + side[k][0], y0 = y + side[k][1], x1 = x + side[k][2], y1 = y + side[k][3];
                const double a = value_of(&cell[y0 * p->x.count + x0], mean),
                             b = value_of(&cell[y1 * p->x.count + x1], mean);
                if (isnan(a) || isnan(b) || (a > level) == (b > level))
                    continue;
                const double part = (level - a) / (b - a);
                cx[n] = between(&p->x, p->x.at[x0], p->x.at[x1], part);
                cy[n++] = between(&p->y, p->y.at[y0], p->y.at[y1], part);
            }
            for (int k = 0; k + 1 < n; k += 2)
                segment[count++] = (ff_segment){{cx[k], cx[k + 1]}, {cy[k], cy[k + 1]}};
        }
    chain(segment, count);
    return count;
}

const ff_cell *ff_picture_limit(const ff_output *output, int map, int limit, int method) {
    const ff_picture *p = &output->picture[map];
    return &p->limit[(limit * output->campaign->methods + method) * p->x.count * p->y.count];
}

int ff_picture_crossings(const ff_picture *p, const ff_cell *cell, double level, double *at, int most) {
    int count = 0;
    for (int x = 0; x + 1 < p->x.count && count < most; x++) {
        const double a = value_of(&cell[x], true), b = value_of(&cell[x + 1], true);
        if (isnan(a) || isnan(b) || (a > level) == (b > level))
            continue;
        at[count++] = between(&p->x, p->x.at[x], p->x.at[x + 1], (level - a) / (b - a));
    }
    return count;
}
