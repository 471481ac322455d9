/* operator/console.h - what the operator types during a run, as orders: the same ones as the live
 * page's, in the same queue. No terminal is read here. */
#ifndef FF_OPERATOR_CONSOLE_H
#define FF_OPERATOR_CONSOLE_H

#include "operator/tuning.h"

#define FF_CONSOLE_VIEWER UINT32_MAX /* `from` of an order that was typed */

typedef enum ff_console_line {
    FF_CONSOLE_EMPTY,
    FF_CONSOLE_ORDER,  /* *order is written */
    FF_CONSOLE_HELP,   /* the list is asked for */
    FF_CONSOLE_UNKNOWN /* nothing is done */
} ff_console_line;

/* One line, with or without its end; blanks around the word do not matter. */
ff_console_line ff_console_read(const char *line, ff_order *order);
/* The words and what they do, a line each. */
const char *ff_console_help(void);

#endif
