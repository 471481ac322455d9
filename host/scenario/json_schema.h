/* scenario/json_schema.h - the table of keys as a JSON Schema, for editors that complete and check scenario
 * files while they are written. What the schema cannot say (a name that exists, an inertia that is physical,
 * keys that exclude each other) `freefloat check` says. */
#ifndef FF_SCENARIO_JSON_SCHEMA_H
#define FF_SCENARIO_JSON_SCHEMA_H

/* JSON Schema, draft 2020-12; malloc'ed, the caller's to free. NULL: no memory. */
char *ff_scenario_json_schema(void);

#endif
