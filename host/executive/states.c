#include "executive/states.h"

/* clang-format off */
#define S(name) FF_STATE_##name
static const unsigned char next[FF_STATE_COUNT][FF_ON_COUNT] = {
    /*               READY     TEST         TESTED      PASSED       ARM          START         ARRIVED      BEGIN        TOUCH        FREE         STOP        TRIP        PUSHED       RESTED       FAILED       GONE        CLOSE */
    [S(OFF)]      = {S(CHECK), S(OFF),      S(OFF),     S(OFF),      S(OFF),      S(OFF),       S(OFF),      S(OFF),      S(OFF),      S(OFF),      S(HOLD),    S(FAULT),   S(OFF),      S(OFF),      S(OFF),      S(FAULT),   S(END)},
    [S(CHECK)]    = {S(CHECK), S(TEST),     S(CHECK),   S(ZEROED),   S(CHECK),    S(CHECK),     S(CHECK),    S(CHECK),    S(CHECK),    S(CHECK),    S(HOLD),    S(FAULT),   S(CHECK),    S(CHECK),    S(CHECK),    S(FAULT),   S(END)},
    [S(TEST)]     = {S(TEST),  S(TEST),     S(CHECK),   S(TEST),     S(TEST),     S(TEST),      S(TEST),     S(TEST),     S(TEST),     S(TEST),     S(BRAKE),   S(BRAKE),   S(TEST),     S(TEST),     S(TEST),     S(FAULT),   S(END)},
    [S(ZEROED)]   = {S(ZEROED), S(ZEROED),  S(ZEROED),  S(ZEROED),   S(ARMED),    S(ZEROED),    S(ZEROED),   S(ZEROED),   S(ZEROED),   S(ZEROED),   S(HOLD),    S(FAULT),   S(ZEROED),   S(ZEROED),   S(ZEROED),   S(FAULT),   S(END)},
    [S(ARMED)]    = {S(ARMED), S(ARMED),    S(ARMED),   S(ARMED),    S(ARMED),    S(APPROACH),  S(ARMED),    S(ARMED),    S(ARMED),    S(ARMED),    S(HOLD),    S(FAULT),   S(ARMED),    S(ARMED),    S(ARMED),    S(FAULT),   S(END)},
    [S(APPROACH)] = {S(APPROACH), S(APPROACH), S(APPROACH), S(APPROACH), S(APPROACH), S(APPROACH), S(RUNUP), S(APPROACH), S(APPROACH), S(APPROACH), S(BRAKE),  S(BRAKE),   S(APPROACH), S(APPROACH), S(APPROACH), S(FAULT),   S(END)},
    [S(RUNUP)]    = {S(RUNUP), S(RUNUP),    S(RUNUP),   S(RUNUP),    S(RUNUP),    S(RUNUP),     S(RUNUP),    S(FLOAT),    S(RUNUP),    S(RUNUP),    S(BRAKE),   S(BRAKE),   S(RUNUP),    S(RUNUP),    S(RUNUP),    S(FAULT),   S(END)},
    [S(FLOAT)]    = {S(FLOAT), S(FLOAT),    S(FLOAT),   S(FLOAT),    S(FLOAT),    S(FLOAT),     S(FLOAT),    S(FLOAT),    S(CONTACT),  S(FLOAT),    S(BRAKE),   S(BRAKE),   S(FLOAT),    S(FLOAT),    S(FLOAT),    S(FAULT),   S(END)},
    [S(CONTACT)]  = {S(CONTACT), S(CONTACT), S(CONTACT), S(CONTACT), S(CONTACT),  S(CONTACT),   S(CONTACT),  S(CONTACT),  S(CONTACT),  S(FLOAT),    S(BRAKE),   S(BRAKE),   S(CONTACT),  S(CONTACT),  S(CONTACT),  S(FAULT),   S(END)},
    [S(BRAKE)]    = {S(BRAKE), S(BRAKE),    S(BRAKE),   S(BRAKE),    S(BRAKE),    S(BRAKE),     S(BRAKE),    S(BRAKE),    S(BRAKE),    S(BRAKE),    S(BRAKE),   S(BRAKE),   S(RETREAT),  S(HOLD),     S(FAULT),    S(FAULT),   S(END)},
    [S(RETREAT)]  = {S(RETREAT), S(RETREAT), S(RETREAT), S(RETREAT), S(RETREAT),  S(RETREAT),   S(RETREAT),  S(RETREAT),  S(RETREAT),  S(RETREAT),  S(RETREAT), S(RETREAT), S(RETREAT),  S(HOLD),     S(FAULT),    S(FAULT),   S(END)},
    [S(HOLD)]     = {S(HOLD),  S(HOLD),     S(HOLD),    S(HOLD),     S(HOLD),     S(HOLD),      S(HOLD),     S(HOLD),     S(HOLD),     S(HOLD),     S(HOLD),    S(FAULT),   S(HOLD),     S(HOLD),     S(FAULT),    S(FAULT),   S(END)},
    [S(FAULT)]    = {S(FAULT), S(FAULT),    S(FAULT),   S(FAULT),    S(FAULT),    S(FAULT),     S(FAULT),    S(FAULT),    S(FAULT),    S(FAULT),    S(FAULT),   S(FAULT),   S(FAULT),    S(FAULT),    S(FAULT),    S(FAULT),   S(END)},
    [S(END)]      = {S(END),   S(END),      S(END),     S(END),      S(END),      S(END),       S(END),      S(END),      S(END),      S(END),      S(END),     S(END),     S(END),      S(END),      S(END),      S(END),     S(END)},
};
#undef S
/* clang-format on */

ff_state ff_state_next(ff_state state, ff_state_event event) {
    return (ff_state)next[state][event];
}

static const struct {
    const char *name, *text;
    ff_commands sent;
} states[] = {
#define FF_STATE_ROW(name, sent, text) {#name, text, FF_COMMANDS_##sent},
    FF_STATES(FF_STATE_ROW)
#undef FF_STATE_ROW
};

ff_commands ff_state_commands(ff_state state) {
    return states[state].sent;
}

bool ff_state_moves(ff_state state) {
    return ff_state_leads(state) || states[state].sent == FF_COMMANDS_TEST;
}

bool ff_state_leads(ff_state state) {
    return states[state].sent == FF_COMMANDS_PATH || states[state].sent == FF_COMMANDS_LOOP;
}

const char *ff_state_name(ff_state state) {
    return (unsigned)state < FF_STATE_COUNT ? states[state].name : "?";
}

const char *ff_state_text(ff_state state) {
    return (unsigned)state < FF_STATE_COUNT ? states[state].text : "?";
}

const char *ff_state_event_name(ff_state_event event) {
    static const char *const names[] = {
#define FF_STATE_EVENT_NAME(name, text) #name,
        FF_STATE_EVENTS(FF_STATE_EVENT_NAME)
#undef FF_STATE_EVENT_NAME
    };
    return (unsigned)event < FF_ON_COUNT ? names[event] : "?";
}
