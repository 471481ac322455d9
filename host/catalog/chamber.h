/* catalog/chamber.h - memory for foreign code: pages of its own between two that nobody may touch. The block
 * ends at the upper one; what its pages hold beside it is a pattern. A read or write outside is a fault that
 * is said in words, not a crash or a silent change of somebody else's memory. */
#ifndef FF_CATALOG_CHAMBER_H
#define FF_CATALOG_CHAMBER_H

#include <stdbool.h>
#include <stddef.h>

/* Memory that may hold chambers, zero; NULL: there is none. And back, whatever is locked in it. */
void *ff_chamber_take(size_t bytes);
void ff_chamber_give(void *memory, size_t bytes);

/* That a chamber for a block of this size takes, wherever it begins. */
size_t ff_chamber_bytes(size_t block);
/* Makes one: the block is aligned to 16 bytes, and what it holds stays. */
void ff_chamber_open(void *memory, size_t block);
/* Another size, up to that of ff_chamber_open, of a block of doubles: it ends at the upper page exactly. */
void ff_chamber_fit(void *memory, size_t block);
size_t ff_chamber_size(const void *memory);
void *ff_chamber_block(const void *memory);
/* The block can be read only, or again be written. */
void ff_chamber_lock(const void *memory, bool locked);
/* The pattern stands. */
bool ff_chamber_whole(const void *memory);

enum { FF_CHAMBERS = 3 };
/* The chambers of the call that this thread makes, NULL where there is none, and what each is called ("its
 * state"): for ff_chamber_explain. */
void ff_chamber_using(int slot, const void *memory, const char *what);
/* From now on an access outside of them calls say("reads or writes beyond its state"), on a stack of its own
 * where this thread has called ff_chamber_stack; other crashes end the process as they do by default. */
void ff_chamber_explain(void (*say)(const char *why));
void ff_chamber_stack(void);

#endif
