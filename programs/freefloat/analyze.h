/* The analyses, one row each in analyze.c's table; argv[0] is its own name. */
#ifndef FF_ANALYZE_H
#define FF_ANALYZE_H

int ff_analyze_delay_margin(int argc, char **argv);
int ff_analyze_workspace(int argc, char **argv);
int ff_analyze_log(int argc, char **argv);

#endif
