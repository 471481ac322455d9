#include "rows/row.h"

#include <stddef.h>
#include <string.h>

ff_rigid_state ff_row_no_reference(void) {
    const ff_vec3 nan3 = {{FF_NAN, FF_NAN, FF_NAN}};
    return (ff_rigid_state){nan3, {FF_NAN, FF_NAN, FF_NAN, FF_NAN}, nan3, nan3};
}

void ff_row_begin(const ff_scenario *scenario, const ff_loop_state *state, uint64_t k, bool final,
                  ff_row *row) {
    memset(row, 0, offsetof(ff_row, body));
    row->k = k;
    row->t = (double)k * scenario->cycle;
    row->final = final;
    for (int i = 0; i < scenario->satellites; i++) {
        ff_row_body *b = &row->body[i];
        b->satellite = state->body[i];
        b->energy = state->energy[i];
        b->ideal = ff_row_no_reference();
    }
    for (int c = 0; c < scenario->contacts; c++) {
        row->contact_force[c] = ff_vec3_zero();
        row->touching[c] = false;
    }
}

void ff_row_loop(const ff_scenario *scenario, const ff_loop_model *model, const ff_loop_state *state,
                 const ff_loop_in *in, const ff_loop_out *out, ff_status status, ff_row *row) {
    row->status = status;
    row->bounds = out->fidelity.bounds;
    for (int i = 0; i < scenario->satellites; i++) {
        ff_row_body *b = &row->body[i];
        b->command = out->command[i];
        b->measured_b = out->measured_b[i];
        b->corrected_b = out->fidelity.f_b[i];
        b->velocity_correction = out->velocity_correction[i];
        b->load = in->load[i];
        b->sensor = in->sensor[i];
        b->sent = in->sent[i];
        b->in_contact = out->fidelity.in_contact[i];
        b->settling = out->fidelity.settling[i];
        b->reports = ff_loop_report(model, state, i, b->report);
        b->identified_stiffness = out->fidelity.stiffness[i];
        b->identified_damping = out->fidelity.damping[i];
        b->identified_damping_sd = out->fidelity.damping_sd[i];
        const bool own = out->fidelity.observers == 6 || (out->fidelity.observers == 1 && i == 0);
        for (int a = 0; a < 6; a++)
            b->observer[a] = own && a < out->fidelity.observers ? out->fidelity.observer[i][a] : FF_NAN;
    }
}

void ff_row_sent(const ff_scenario *scenario, const ff_sent *sent, ff_row *row) {
    for (int i = 0; i < scenario->satellites; i++) {
        row->body[i].command = sent[i].to;
        row->body[i].lag = sent[i].lag;
        row->body[i].limited = sent[i].limited;
    }
}

void ff_row_settle(const ff_scenario *scenario, ff_loop_out *out) {
    for (int i = 0; i < scenario->satellites; i++) {
        out->command[i] = out->next[i];
        out->fidelity.f_b[i] = ff_wrench_zero();
        out->velocity_correction[i] = ff_twist_zero();
    }
}
