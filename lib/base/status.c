#include "freefloat/base.h"

const char *ff_status_name(ff_status status) {
    switch (status) {
#define FF_STATUS_CASE(name, value, text) \
    case name:                            \
        return #name;
        FF_STATUS_LIST(FF_STATUS_CASE)
#undef FF_STATUS_CASE
    }
    return "FF_STATUS_UNKNOWN";
}

const char *ff_status_text(ff_status status) {
    switch (status) {
#define FF_STATUS_CASE(name, value, text) \
    case name:                            \
        return text;
        FF_STATUS_LIST(FF_STATUS_CASE)
#undef FF_STATUS_CASE
    }
    return "unknown status";
}
