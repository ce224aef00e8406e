// libpq without linking it: the functions that Mintmark needs, looked up in libpq.so.5 on first use. All declarations are in this file, so
// neither building nor running requires libpq if PostgreSQL is not used. Where libpq's headers are installed, CPostgres.c checks them.
// Source: PostgreSQL documentation, chapter "libpq - C Library".
#ifndef CPOSTGRES_H
#define CPOSTGRES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pq_connection pq_connection;
typedef struct pq_result pq_result;
typedef uint32_t pq_oid;

/// The supported types of parameters and columns (pg_type.dat).
static const pq_oid PQ_TYPE_UNSPECIFIED = 0;
static const pq_oid PQ_TYPE_BOOL = 16;
static const pq_oid PQ_TYPE_BYTEA = 17;
static const pq_oid PQ_TYPE_INT8 = 20;
static const pq_oid PQ_TYPE_INT2 = 21;
static const pq_oid PQ_TYPE_INT4 = 23;
static const pq_oid PQ_TYPE_TEXT = 25;
static const pq_oid PQ_TYPE_NUMERIC = 1700;

/// The result of a connection step (PostgresPollingStatusType).
static const int PQ_POLLING_FAILED = 0;
static const int PQ_POLLING_READING = 1;
static const int PQ_POLLING_WRITING = 2;
static const int PQ_POLLING_OK = 3;

/// The status of a result that is an error (ExecStatusType).
static const int PQ_FATAL_ERROR = 7;
/// The status of a `COPY … FROM STDIN` that waits for its rows.
static const int PQ_COPY_IN = 4;

/// The status of a connection without a transaction (PGTransactionStatusType).
static const int PQ_IDLE = 0;

/// The fields of an error (PG_DIAG_…).
static const int PQ_FIELD_SQLSTATE = 'C';
static const int PQ_FIELD_MESSAGE = 'M';

/// Loads libpq.so.5 once. Returns NULL, or the reason it cannot be used. Must be called before any other function of this module.
const char *pq_load(void);

/// Returns the value of a setting in a connection URI, or NULL if the URI does not contain it. The caller must free the result. `*is_valid`
/// is set to whether the URI can be parsed. libpq's own message about an invalid URI is not returned, because it can quote a password.
char *pq_uri_setting(const char *uri, const char *keyword, bool *is_valid);

/// Begins to connect. Error messages contain their SQLSTATE; notices are discarded.
pq_connection *pq_connect_start(const char *const *keywords, const char *const *values);
int pq_connect_poll(pq_connection *connection);
/// Counts in `*count` the warnings without a class of their own (SQLSTATE 01000) that the server sends after this call. `count` must remain
/// valid until `pq_finish`.
void pq_count_warnings(pq_connection *connection, int *count);
/// Returns the process of the server that the greeting of the connection named. A connection pooler names a process of its own.
int pq_backend_process(const pq_connection *connection);
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
/// Sends a prepared statement with parameters and results in binary format.
bool pq_send_prepared(pq_connection *connection, const char *name, int count, const char *const *values, const int *lengths);
/// Sends a statement that is not kept on the server, with parameters and results in binary format.
bool pq_send_parameters(
    pq_connection *connection, const char *text, int count, const pq_oid *types, const char *const *values, const int *lengths);
/// Sends rows of a `COPY … FROM STDIN`, and ends it. Both block until the server has taken what does not fit into the buffers.
bool pq_put_copy_data(pq_connection *connection, const char *bytes, int count);
bool pq_put_copy_end(pq_connection *connection);
bool pq_consume_input(pq_connection *connection);
/// Removes the notifications received since the last call, without blocking, and returns their number.
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
