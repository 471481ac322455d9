/* The sub-commands: each in its own file, argv[0] is its name. Exit status 0 done, 1 the run failed, 2 bad
 * usage or scenario. */
#ifndef FF_COMMANDS_H
#define FF_COMMANDS_H

int ff_cmd_check(int argc, char **argv);
int ff_cmd_schema(int argc, char **argv);
int ff_cmd_run(int argc, char **argv);
int ff_cmd_compare(int argc, char **argv);
int ff_cmd_papers(int argc, char **argv);
int ff_cmd_analyze(int argc, char **argv);
int ff_cmd_campaign(int argc, char **argv);
int ff_cmd_rt(int argc, char **argv);
int ff_cmd_facility(int argc, char **argv);
int ff_cmd_guard(int argc, char **argv);
int ff_cmd_replay(int argc, char **argv);
int ff_cmd_export(int argc, char **argv);
int ff_cmd_view(int argc, char **argv);
int ff_cmd_playground(int argc, char **argv);
int ff_cmd_runs(int argc, char **argv);
int ff_cmd_verify(int argc, char **argv);

#endif
