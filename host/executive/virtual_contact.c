#include "executive/virtual_contact.h"

#include "facility/environment.h"

ff_status ff_virtual_contacts_open(ff_virtual_contacts *contacts, const ff_scenario *scenario, char *message,
                                   size_t size) {
    contacts->count = 0;
    for (int c = 0; c < scenario->contacts; c++) {
        if (!scenario->contact[c].is_virtual)
            continue;
        ff_contact *contact = &contacts->contact[contacts->count++];
        *contact = scenario->contact[c];
        const ff_status status = ff_environment_prepare(contact, scenario->satellites, message, size);
        if (status != FF_OK)
            return status;
    }
    return FF_OK;
}

void ff_virtual_contacts_step(const ff_virtual_contacts *contacts, int satellites, ff_loop_in *in) {
    if (contacts->count == 0)
        return;
    ff_setpoint robot[FF_MAX_BODIES];
    in->touches = true;
    for (int i = 0; i < satellites; i++) {
        robot[i] = (ff_setpoint){in->sensor[i].T_wb, in->sensor[i].twist};
        in->contact_b[i] = ff_wrench_zero();
    }
    for (int c = 0; c < contacts->count; c++) {
        const ff_contact *contact = &contacts->contact[c];
        ff_environment_out out;
        if (!ff_environment_contact(contact, robot, &out))
            continue;
        in->contact_b[contact->body] = ff_wrench_add(in->contact_b[contact->body], out.on_body);
        if (contact->against >= 0)
            in->contact_b[contact->against] = ff_wrench_add(in->contact_b[contact->against], out.on_other);
    }
}
