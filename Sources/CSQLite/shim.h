#pragma once
#include <sqlite3.h>

// Swift cannot call C's variadic functions. Without memory statistics, threads do not meet at one lock for every allocation;
// SQLite refuses the change, harmlessly, if this process has used it before.
static inline int sqlite3_lookaside(sqlite3 *database, int size, int count) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_LOOKASIDE, (void *)0, size, count);
}
static inline int sqlite3_config_without_memory_statistics(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }
