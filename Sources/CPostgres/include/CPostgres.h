// libpq without linking it: the functions that Mintmark needs, found in libpq.so.5 when it is first used. Everything is declared
// here, so that neither building nor running needs libpq where no PostgreSQL is used.
// Source: PostgreSQL documentation, chapter "libpq - C Library".
#ifndef CPOSTGRES_H
#define CPOSTGRES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pq_connection pq_connection;
typedef struct pq_result pq_result;
typedef uint32_t pq_oid;

/// The types of parameters and columns that are told apart (pg_type.dat).
static const pq_oid PQ_TYPE_UNSPECIFIED = 0;
static const pq_oid PQ_TYPE_BOOL = 16;
static const pq_oid PQ_TYPE_BYTEA = 17;
static const pq_oid PQ_TYPE_INT8 = 20;
static const pq_oid PQ_TYPE_INT2 = 21;
static const pq_oid PQ_TYPE_INT4 = 23;
static const pq_oid PQ_TYPE_TEXT = 25;
static const pq_oid PQ_TYPE_NUMERIC = 1700;

/// What became of a step of connecting (PostgresPollingStatusType).
static const int PQ_POLLING_FAILED = 0;
static const int PQ_POLLING_READING = 1;
static const int PQ_POLLING_WRITING = 2;
static const int PQ_POLLING_OK = 3;

/// That a result is an error (ExecStatusType).
static const int PQ_FATAL_ERROR = 7;

/// That a connection is in no transaction (PGTransactionStatusType).
static const int PQ_IDLE = 0;

/// Fields of an error (PG_DIAG_…).
static const int PQ_FIELD_SQLSTATE = 'C';
static const int PQ_FIELD_MESSAGE = 'M';

/// Loads libpq.so.5, once. Answers NULL, or why it cannot be used. Before any other function here.
const char *pq_load(void);

/// The value of one setting in a connection URI; NULL if it stands nowhere in it. To be freed. `*is_valid` says whether the URI can be
/// read at all. What libpq itself says about a bad URI may quote a password, and is not answered.
char *pq_uri_setting(const char *uri, const char *keyword, bool *is_valid);

/// Begins to connect. Messages carry their SQLSTATE, notices go nowhere.
pq_connection *pq_connect_start(const char *const *keywords, const char *const *values);
int pq_connect_poll(pq_connection *connection);
void pq_finish(pq_connection *connection);

int pq_socket(const pq_connection *connection);
bool pq_is_connected(const pq_connection *connection);
int pq_transaction_status(const pq_connection *connection);
int pq_server_version(const pq_connection *connection);
const char *pq_parameter_status(const pq_connection *connection, const char *name);
const char *pq_error_message(const pq_connection *connection);
char *pq_escape_literal(pq_connection *connection, const char *text, size_t length);
void pq_free(void *memory);

bool pq_send_query(pq_connection *connection, const char *text);
bool pq_send_prepare(pq_connection *connection, const char *name, const char *text, int count, const pq_oid *types);
bool pq_send_describe(pq_connection *connection, const char *name);
/// Parameters and results are in binary format.
bool pq_send_prepared(pq_connection *connection, const char *name, int count, const char *const *values, const int *lengths);
bool pq_consume_input(pq_connection *connection);
/// Takes what others have notified this connection of since it was asked last, without waiting. Answers how many notifications there were.
int pq_take_notifications(pq_connection *connection);
bool pq_is_busy(pq_connection *connection);
pq_result *pq_get_result(pq_connection *connection);

int pq_result_status(const pq_result *result);
const char *pq_result_field(const pq_result *result, int field);
const char *pq_command_status(pq_result *result);
const char *pq_command_rows(pq_result *result);
int pq_parameter_count(const pq_result *result);
pq_oid pq_parameter_type(const pq_result *result, int parameter);
int pq_row_count(const pq_result *result);
pq_oid pq_column_type(const pq_result *result, int column);
bool pq_is_null(const pq_result *result, int row, int column);
int pq_length(const pq_result *result, int row, int column);
const char *pq_value(const pq_result *result, int row, int column);
void pq_clear(pq_result *result);

#endif
