// inserts FILE SECONDS: alone or with others on the same file, prints the one-row transactions per second of the SQLite C API.
// This is the limit for creating identities one by one.
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void check(int result, sqlite3 *db) {
    if (result != SQLITE_OK && result != SQLITE_DONE) {
        fprintf(stderr, "%s\n", sqlite3_errmsg(db));
        exit(1);
    }
}

int main(int count, char **arguments) {
    if (count != 3) return 64;
    sqlite3 *db;
    sqlite3_stmt *insert;
    check(sqlite3_open(arguments[1], &db), db);
    check(sqlite3_busy_timeout(db, 30000), db);
    check(sqlite3_exec(db,
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
        "CREATE TABLE IF NOT EXISTS identity (id TEXT PRIMARY KEY, pool TEXT NOT NULL, subject TEXT NOT NULL, created_at BIGINT NOT NULL) WITHOUT ROWID;",
        NULL, NULL, NULL), db);
    check(sqlite3_prepare_v2(db, "INSERT INTO identity VALUES ($1, $2, $3, $4)", -1, &insert, NULL), db);
    double begin = now(), seconds = atof(arguments[2]);
    long rows = 0;
    while (now() - begin < seconds) {
        char id[64];
        snprintf(id, sizeof id, "local-1:%08lx-0000-4000-%04x-%012lx", (rows * 2654435761UL) & 0xffffffff, (unsigned)getpid() & 0xffff, rows);
        sqlite3_bind_text(insert, 1, id, -1, SQLITE_TRANSIENT);
        sqlite3_bind_text(insert, 2, "local-1:00000000-0000-0000-0000-000000000000", -1, SQLITE_STATIC);
        sqlite3_bind_text(insert, 3, id, -1, SQLITE_TRANSIENT);
        sqlite3_bind_int64(insert, 4, 1700000000);
        check(sqlite3_step(insert), db);
        check(sqlite3_reset(insert), db);
        rows++;
    }
    printf("%.1f\n", rows / (now() - begin));
    sqlite3_finalize(insert);
    sqlite3_close(db);
    return 0;
}
