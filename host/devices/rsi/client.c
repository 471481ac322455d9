/* The PC's side of RSI: answers every telegram, keeps count of what is wrong. */
#include "devices/rsi/internal.h"

#include <string.h>

ff_rsi_client_config ff_rsi_client_config_default(void) {
    return (ff_rsi_client_config){.names = ff_rsi_names_default(),
                                  .mode = FF_RSI_ABSOLUTE,
                                  .channel = FF_RSI_BY_AXES,
                                  .decimals = 6,
                                  .max_rotation = 5.0 * DEG,
                                  .most_axis = FF_INF,
                                  .most_shift = FF_INF,
                                  .clip_translation = 1e-3,
                                  .clip_rotation = 0.1 * DEG,
                                  .clip_window = 50,
                                  .clip_cycles = 10};
}

ff_status ff_rsi_client_config_validate(const ff_rsi_client_config *config) {
    if (ff_rsi_names_validate(&config->names) != FF_OK)
        return FF_ERR_ARGUMENT;
    if (config->mode != FF_RSI_ABSOLUTE && config->mode != FF_RSI_RELATIVE)
        return FF_ERR_ARGUMENT;
    if (config->channel != FF_RSI_BY_AXES && config->channel != FF_RSI_BY_CARTESIAN)
        return FF_ERR_ARGUMENT;
    if (config->decimals < 0 || config->decimals > FF_TEXT_DECIMALS_MAX)
        return FF_ERR_ARGUMENT;
    if (!(config->max_rotation > 0.0) || !(config->max_rotation <= FF_PI))
        return FF_ERR_ARGUMENT;
    if (!(config->most_axis > 0.0) || !(config->most_shift > 0.0))
        return FF_ERR_ARGUMENT;
    if (!(config->clip_translation > 0.0) || !(config->clip_rotation > 0.0) || config->clip_cycles == 0)
        return FF_ERR_ARGUMENT;
    if (config->clip_window == 0 || config->clip_window > FF_RSI_WINDOW_MAX)
        return FF_ERR_ARGUMENT;
    return FF_OK;
}

ff_pose ff_rsi_rob_pose(const ff_rsi_rob *rob) {
    return ff_rsi_to_pose(rob->rist);
}

void ff_rsi_rob_axes(const ff_rsi_rob *rob, double axes[6]) {
    for (int i = 0; i < 6; i++)
        axes[i] = rob->aipos[i] * DEG;
}

void ff_rsi_client_reset(ff_rsi_client_state *state) {
    *state = (ff_rsi_client_state){0};
}

/* The distance of x from the range of recent totals of one tag [mm or deg]. A robot that lags lies between
 * commands of the past; one that is clipped lies outside all of them. */
static double outside(const ff_rsi_client_state *state, unsigned window, int tag, double x) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (unsigned i = 0; i < window && i < state->recent_count; i++) {
        const unsigned at = (state->recent_next + FF_RSI_WINDOW_MAX - 1 - i) % FF_RSI_WINDOW_MAX;
        low = fmin(low, state->recent[at][tag]);
        high = fmax(high, state->recent[at][tag]);
    }
    return x < low ? low - x : x > high ? x - high : 0.0;
}

/* The smallest angle [deg] between the measured turn and a recent commanded one. */
static double outside_rotation(const ff_rsi_client_state *state, unsigned window, ff_quat turned) {
    double least = HUGE_VAL;
    for (unsigned i = 0; i < window && i < state->recent_count; i++) {
        const unsigned at = (state->recent_next + FF_RSI_WINDOW_MAX - 1 - i) % FF_RSI_WINDOW_MAX;
        least = fmin(least, ff_quat_angle(turned, rotation_of(state->recent[at])) / DEG);
    }
    return least;
}

static void watch_clipping(const ff_rsi_client_config *config, ff_rsi_client_state *state,
                           const ff_rsi_rob *rob) {
    double excess = 0.0, by = 0.0; /* excess: distance over its bound */
    int worst = 0;
    if (state->recent_count == 0)
        return;
    for (int i = 0; i < 12; i++) {
        int tag;
        double x, bound;
        if (i < 6 && config->channel == FF_RSI_BY_CARTESIAN) {
            if (i == 3) { /* the three angles together, as one rotation */
                const ff_quat turned =
                    ff_quat_mul(rotation_of(rob->rist), ff_quat_conj(rotation_of(state->first.rist)));
                const double away = outside_rotation(state, config->clip_window, turned);
                if (away * DEG / config->clip_rotation > excess) {
                    excess = away * DEG / config->clip_rotation;
                    by = away;
                    worst = FF_RSI_TAG_CARTESIAN + 3;
                }
            }
            if (i >= 3)
                continue;
            tag = FF_RSI_TAG_CARTESIAN + i;
            x = rob->rist[i] - state->first.rist[i];
            bound = config->clip_translation * 1000.0;
        } else if (i < 6) {
            tag = FF_RSI_TAG_AXES + i;
            x = rob->aipos[i] - state->first.aipos[i];
            bound = config->clip_rotation / DEG;
        } else {
            const int e = i - 6;
            if (!config->use_external || !(rob->fields & FF_RSI_EIPOS))
                break;
            tag = FF_RSI_TAG_EXTERNAL + e;
            x = rob->eipos[e] - state->first.eipos[e];
            bound =
                config->external_linear[e] ? config->clip_translation * 1000.0 : config->clip_rotation / DEG;
        }
        const double away = outside(state, config->clip_window, tag, x);
        if (away / bound > excess) {
            excess = away / bound;
            by = away;
            worst = tag;
        }
    }
    state->apart = excess > 1.0 ? state->apart + 1 : 0;
    if (state->apart >= config->clip_cycles && !state->info.clipped) {
        state->info.clipped = true;
        state->info.clipped_tag = worst;
        state->info.clipped_by = by;
    }
}

/* The program's own set point, RSol or ASPos, does not follow the corrections: it is where they count from,
 * and stands as long as the program does. What is called equal is a step at most. */
static bool elsewhere(const ff_rsi_rob *first, const ff_rsi_rob *got) {
    const double same = 1e-5; /* [mm, deg] ten of the last decimal that a controller sends */
    const unsigned both = first->fields & got->fields;
    bool moved = false;
    if (both & FF_RSI_RSOL) {
        for (int i = 0; i < 3; i++)
            moved |= fabs(got->rsol[i] - first->rsol[i]) > same;
        moved |= ff_quat_angle(rotation_of(got->rsol), rotation_of(first->rsol)) > same * DEG;
    }
    for (int i = 0; i < 6 && both & FF_RSI_ASPOS; i++)
        moved |= fabs(got->aspos[i] - first->aspos[i]) > same;
    return moved;
}

/* What has become of the last answer, by the controller's own counters. */
static void settle(ff_rsi_client_state *state, const ff_rsi_rob *got, uint64_t lost) {
    const bool counts = got->fields & state->first.fields & FF_RSI_DELAY;
    state->restarted |= counts && got->delay < state->delay;
    state->late = !counts ? lost : got->delay >= state->delay ? got->delay - state->delay : got->delay;
    state->taken = state->answered && (counts ? state->late <= lost : lost == 0);
    state->stood = !state->taken || state->late > 0;
    if (state->taken)
        memcpy(state->accepted, state->sent, sizeof state->accepted);
    else
        memcpy(state->sent, state->accepted, sizeof state->sent);
}

ff_status ff_rsi_client_receive(const ff_rsi_client_config *config, ff_rsi_client_state *state,
                                const char *bytes, size_t size, ff_rsi_rob *rob) {
    ff_rsi_rob got;
    ff_status status = ff_rsi_rob_decode(bytes, size, &got);
    const unsigned needed = config->channel == FF_RSI_BY_AXES ? FF_RSI_AIPOS : FF_RSI_RIST;
    /* what the first telegram carried, every one carries: a place or a counter that is not there is not 0 */
    const unsigned said = state->started ? state->first.fields & ~(unsigned)(FF_RSI_KRC | FF_RSI_ARRIVAL) : 0;
    if (status == FF_OK &&
        ((needed | said) & ~got.fields || (config->use_external && !(got.fields & FF_RSI_EIPOS))))
        status = FF_ERR_FORMAT;
    if (status == FF_INFO_HELD) {
        state->info.empty++;
        return status;
    }
    if (status != FF_OK) {
        state->info.malformed++;
        return status;
    }
    if (!state->started) {
        state->started = true;
        state->first = got;
        state->ipoc_step = config->ipoc_step;
        state->first_delay = got.delay;
    } else {
        if (got.ipoc == state->ipoc) {
            state->info.repeated++;
            return FF_INFO_STALE;
        }
        if (got.ipoc <
            state->ipoc) { /* one that was overtaken; two in order are a counter that began again */
            state->olders = state->olders && got.ipoc > state->older ? state->olders + 1 : 1;
            state->older = got.ipoc;
            state->restarted |= state->olders > 1;
            state->info.reordered++;
            return FF_INFO_STALE;
        }
        const uint64_t step = got.ipoc - state->ipoc, lost = state->info.lost;
        if (state->ipoc_step == 0 || (config->ipoc_step == 0 && step < state->ipoc_step))
            state->ipoc_step = step; /* a gap between the first two is undone by the first whole cycle */
        if (step > state->ipoc_step) {
            state->info.lost += step / state->ipoc_step - 1;
            status = FF_INFO_GAP;
        }
        state->info.unanswered += state->due;
        state->restarted |= elsewhere(&state->first, &got);
        settle(state, &got, state->info.lost - lost);
    }
    state->delay = got.delay;
    state->olders = 0;
    state->answered = false;
    if (got.fields & FF_RSI_DELAY)
        state->info.late = got.delay >= state->first_delay ? got.delay - state->first_delay : got.delay;
    state->ipoc = got.ipoc;
    state->due = true;
    state->info.received++;
    watch_clipping(config, state, &got);
    *rob = got;
    return status;
}

/* Totals [mm deg] since the first telegram that the command asks for. */
static ff_status command_totals(const ff_rsi_client_config *config, const ff_rsi_client_state *state,
                                const ff_rsi_command *command, double total[18]) {
    const bool told = state->first.fields & FF_RSI_LIM; /* by the controller itself */
    const double axis = fmin(config->most_axis, told ? state->first.limit[0] * DEG : FF_INF),
                 shift = fmin(config->most_shift, told ? 1e-3 * state->first.limit[1] : FF_INF);
    if (config->channel == FF_RSI_BY_CARTESIAN) {
        if (!ff_pose_finite(command->pose))
            return FF_ERR_NOT_FINITE;
        /* p = p_first + d, R = R(d) R_first, both in the frame of RIst (POSCORR with RefCorrSys as RIst). */
        const ff_pose first = ff_rsi_to_pose(state->first.rist);
        const ff_pose d = {ff_quat_mul(command->pose.q, ff_quat_conj(first.q)),
                           ff_vec3_sub(command->pose.p, first.p)};
        if (ff_quat_angle(d.q, ff_quat_identity()) > fmin(config->max_rotation, axis))
            return FF_ERR_LIMIT;
        for (int i = 0; i < 3; i++) /* each for itself, as POSCORR clips */
            if (fabs(d.p.a[i]) > shift)
                return FF_ERR_LIMIT;
        ff_rsi_from_pose(d, total + FF_RSI_TAG_CARTESIAN);
    } else {
        for (int i = 0; i < 6; i++) {
            if (!isfinite(command->axes[i]))
                return FF_ERR_NOT_FINITE;
            total[FF_RSI_TAG_AXES + i] = command->axes[i] / DEG - state->first.aipos[i];
            if (fabs(total[FF_RSI_TAG_AXES + i]) * DEG > axis)
                return FF_ERR_LIMIT;
        }
    }
    if (config->use_external)
        for (int i = 0; i < 6; i++) {
            if (!isfinite(command->external[i]))
                return FF_ERR_NOT_FINITE;
            const double x =
                config->external_linear[i] ? command->external[i] * 1000.0 : command->external[i] / DEG;
            total[FF_RSI_TAG_EXTERNAL + i] = x - state->first.eipos[i];
            if (config->external_linear[i] && fabs(total[FF_RSI_TAG_EXTERNAL + i]) > 1e3 * shift)
                return FF_ERR_LIMIT;
        }
    for (int i = 0; i < 18; i++)
        if (fabs(total[i]) > FF_TEXT_VALUE_MAX)
            return FF_ERR_LIMIT;
    return FF_OK;
}

ff_status ff_rsi_client_answer(const ff_rsi_client_config *config, ff_rsi_client_state *state,
                               const ff_rsi_command *command, char *buffer, size_t size, size_t *used) {
    *used = 0;
    if (!state->due)
        return FF_ERR_ARGUMENT;
    double total[18] = {0};
    memcpy(total, state->sent, sizeof total);
    ff_status refused = FF_OK;
    if (command) {
        double asked[18] = {0};
        refused = command_totals(config, state, command, asked);
        if (refused == FF_OK)
            memcpy(total, asked, sizeof total);
    }
    ff_rsi_sen sen = {.ipoc = state->ipoc};
    sen.tags = config->channel == FF_RSI_BY_AXES ? FF_RSI_ALL_AXES : FF_RSI_ALL_CARTESIAN;
    if (config->use_external)
        sen.tags |= FF_RSI_ALL_EXTERNAL;
    if (command && command->stop) {
        sen.tags |= FF_RSI_STOP;
        sen.value[FF_RSI_TAG_STOP] = 1.0;
    }
    sen.alive = config->heartbeat;
    sen.beat = state->info.answered % FF_RSI_BEATS;
    sen.state = state->phase;
    if (command && command->text) {
        sen.has_text = true;
        strncpy(sen.text, command->text, sizeof sen.text - 1);
    }
    double sent[18];
    memcpy(sent, state->sent, sizeof sent);
    for (int i = 0; i < 18; i++) {
        if (!(sen.tags & (1u << i)))
            continue;
        if (config->mode == FF_RSI_ABSOLUTE) {
            sen.value[i] = total[i];
            sent[i] = ff_text_round(total[i], config->decimals);
        } else {
            /* The increment is what the controller still lacks, so rounding never adds up. */
            sen.value[i] = ff_text_round(total[i] - state->sent[i], config->decimals);
            sent[i] = state->sent[i] + sen.value[i];
        }
    }
    if (config->mode == FF_RSI_RELATIVE && config->channel == FF_RSI_BY_CARTESIAN) {
        /* Rotations compose: the increment turns the last total into the new one. */
        const ff_quat step = ff_quat_mul(rotation_of(total), ff_quat_conj(rotation_of(state->sent)));
        double abc[6];
        ff_rsi_from_pose((ff_pose){step, ff_vec3_zero()}, abc);
        for (int i = 3; i < 6; i++)
            sen.value[i] = ff_text_round(abc[i], config->decimals);
        const ff_quat reached = ff_quat_mul(rotation_of(sen.value), rotation_of(state->sent));
        ff_rsi_from_pose((ff_pose){reached, ff_vec3_zero()}, abc);
        memcpy(sent + 3, abc + 3, 3 * sizeof abc[0]);
    }
    const ff_status status = ff_rsi_sen_encode(&config->names, &sen, config->decimals, buffer, size, used);
    if (status != FF_OK)
        return status;
    memcpy(state->sent, sent, sizeof sent);
    memcpy(state->recent[state->recent_next], sent, sizeof sent);
    state->recent_next = (state->recent_next + 1) % FF_RSI_WINDOW_MAX;
    if (state->recent_count < FF_RSI_WINDOW_MAX)
        state->recent_count++;
    state->due = false;
    state->answered = true;
    state->info.answered++;
    state->info.refused += refused != FF_OK;
    return refused;
}
