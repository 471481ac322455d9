/* freefloat analyze: questions answered before anything moves. argv[0] is "analyze". Exit status 0 done, 1
 * the analysis failed, 2 bad usage. */
#ifndef FF_ANALYZE_H
#define FF_ANALYZE_H

int ff_cmd_analyze(int argc, char **argv);

#endif
