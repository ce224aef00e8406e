#include "CPostgres.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// PQconninfoOption of libpq.
struct option {
    char *keyword, *envvar, *compiled, *val, *label, *dispchar;
    int dispsize;
};

typedef void (*notice_processor)(void *argument, const char *message);

static struct {
    struct option *(*conninfoParse)(const char *, char **);
    void (*conninfoFree)(struct option *);
    pq_connection *(*connectStartParams)(const char *const *, const char *const *, int);
    int (*connectPoll)(pq_connection *);
    void (*finish)(pq_connection *);
    int (*socket)(const pq_connection *);
    int (*status)(const pq_connection *);
    int (*transactionStatus)(const pq_connection *);
    int (*serverVersion)(const pq_connection *);
    const char *(*parameterStatus)(const pq_connection *, const char *);
    char *(*errorMessage)(const pq_connection *);
    int (*setErrorVerbosity)(pq_connection *, int);
    notice_processor (*setNoticeProcessor)(pq_connection *, notice_processor, void *);
    char *(*escapeLiteral)(pq_connection *, const char *, size_t);
    void (*freemem)(void *);
    int (*backendPID)(const pq_connection *);
    int (*sendQuery)(pq_connection *, const char *);
    int (*sendQueryParams)(pq_connection *, const char *, int, const pq_oid *, const char *const *, const int *, const int *, int);
    int (*sendPrepare)(pq_connection *, const char *, const char *, int, const pq_oid *);
    int (*sendDescribePrepared)(pq_connection *, const char *);
    int (*sendQueryPrepared)(pq_connection *, const char *, int, const char *const *, const int *, const int *, int);
    int (*putCopyData)(pq_connection *, const char *, int);
    int (*putCopyEnd)(pq_connection *, const char *);
    int (*consumeInput)(pq_connection *);
    void *(*notifies)(pq_connection *);
    int (*isBusy)(pq_connection *);
    pq_result *(*getResult)(pq_connection *);
    int (*resultStatus)(const pq_result *);
    char *(*resultErrorField)(const pq_result *, int);
    char *(*cmdStatus)(pq_result *);
    char *(*cmdTuples)(pq_result *);
    int (*nparams)(const pq_result *);
    pq_oid (*paramtype)(const pq_result *, int);
    int (*ntuples)(const pq_result *);
    pq_oid (*ftype)(const pq_result *, int);
    int (*getisnull)(const pq_result *, int, int);
    int (*getlength)(const pq_result *, int, int);
    char *(*getvalue)(const pq_result *, int, int);
    void (*clear)(pq_result *);
} pq;

static char failure[512];

static void load(void) {
    static const struct {
        const char *name;
        void *place;
    } symbols[] = {
        {"PQconninfoParse", &pq.conninfoParse},
        {"PQconninfoFree", &pq.conninfoFree},
        {"PQconnectStartParams", &pq.connectStartParams},
        {"PQconnectPoll", &pq.connectPoll},
        {"PQfinish", &pq.finish},
        {"PQsocket", &pq.socket},
        {"PQstatus", &pq.status},
        {"PQtransactionStatus", &pq.transactionStatus},
        {"PQserverVersion", &pq.serverVersion},
        {"PQparameterStatus", &pq.parameterStatus},
        {"PQerrorMessage", &pq.errorMessage},
        {"PQsetErrorVerbosity", &pq.setErrorVerbosity},
        {"PQsetNoticeProcessor", &pq.setNoticeProcessor},
        {"PQescapeLiteral", &pq.escapeLiteral},
        {"PQfreemem", &pq.freemem},
        {"PQbackendPID", &pq.backendPID},
        {"PQsendQuery", &pq.sendQuery},
        {"PQsendQueryParams", &pq.sendQueryParams},
        {"PQsendPrepare", &pq.sendPrepare},
        {"PQsendDescribePrepared", &pq.sendDescribePrepared},
        {"PQsendQueryPrepared", &pq.sendQueryPrepared},
        {"PQputCopyData", &pq.putCopyData},
        {"PQputCopyEnd", &pq.putCopyEnd},
        {"PQconsumeInput", &pq.consumeInput},
        {"PQnotifies", &pq.notifies},
        {"PQisBusy", &pq.isBusy},
        {"PQgetResult", &pq.getResult},
        {"PQresultStatus", &pq.resultStatus},
        {"PQresultErrorField", &pq.resultErrorField},
        {"PQcmdStatus", &pq.cmdStatus},
        {"PQcmdTuples", &pq.cmdTuples},
        {"PQnparams", &pq.nparams},
        {"PQparamtype", &pq.paramtype},
        {"PQntuples", &pq.ntuples},
        {"PQftype", &pq.ftype},
        {"PQgetisnull", &pq.getisnull},
        {"PQgetlength", &pq.getlength},
        {"PQgetvalue", &pq.getvalue},
        {"PQclear", &pq.clear},
    };
    void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *reason = dlerror();
        snprintf(failure, sizeof failure, "%s", reason ? reason : "libpq.so.5 cannot be loaded");
        return;
    }
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *function = dlsym(library, symbols[i].name);
        if (!function) {
            snprintf(failure, sizeof failure, "libpq.so.5 has no %s", symbols[i].name);
            return;
        }
        memcpy(symbols[i].place, &function, sizeof function);
    }
}

const char *pq_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return failure[0] ? failure : NULL;
}

char *pq_uri_setting(const char *uri, const char *keyword, bool *is_valid) {
    char *reason = NULL;
    struct option *options = pq.conninfoParse(uri, &reason);
    if (reason) pq.freemem(reason);
    *is_valid = options != NULL;
    char *found = NULL;
    for (struct option *option = options; option && option->keyword; option++)
        if (!strcmp(option->keyword, keyword) && option->val) found = strdup(option->val);
    if (options) pq.conninfoFree(options);
    return found;
}

static void ignore(void *argument, const char *message) {
    (void)argument;
    (void)message;
}

pq_connection *pq_connect_start(const char *const *keywords, const char *const *values) {
    pq_connection *connection = pq.connectStartParams(keywords, values, 1);
    if (connection) {
        pq.setErrorVerbosity(connection, 2);  // PQERRORS_VERBOSE
        pq.setNoticeProcessor(connection, ignore, NULL);
    }
    return connection;
}

int pq_connect_poll(pq_connection *connection) { return pq.connectPoll(connection); }
void pq_finish(pq_connection *connection) { pq.finish(connection); }
int pq_socket(const pq_connection *connection) { return pq.socket(connection); }
bool pq_is_connected(const pq_connection *connection) { return pq.status(connection) != 1; }  // CONNECTION_BAD
int pq_transaction_status(const pq_connection *connection) { return pq.transactionStatus(connection); }
int pq_server_version(const pq_connection *connection) { return pq.serverVersion(connection); }
const char *pq_parameter_status(const pq_connection *connection, const char *name) { return pq.parameterStatus(connection, name); }
const char *pq_error_message(const pq_connection *connection) { return pq.errorMessage(connection); }
char *pq_escape_literal(pq_connection *connection, const char *text, size_t length) { return pq.escapeLiteral(connection, text, length); }
void pq_free(void *memory) { pq.freemem(memory); }

static void count_warning(void *argument, const char *message) {
    // Verbose messages contain the SQLSTATE in every language of the server: "WARNING:  01000: …".
    if (strstr(message, ":  01000: ")) ++*(int *)argument;
}

void pq_count_warnings(pq_connection *connection, int *count) { pq.setNoticeProcessor(connection, count_warning, count); }
int pq_backend_process(const pq_connection *connection) { return pq.backendPID(connection); }

bool pq_send_query(pq_connection *connection, const char *text) { return pq.sendQuery(connection, text); }

bool pq_send_prepare(pq_connection *connection, const char *name, const char *text, int count, const pq_oid *types) {
    return pq.sendPrepare(connection, name, text, count, types);
}

bool pq_send_describe(pq_connection *connection, const char *name) { return pq.sendDescribePrepared(connection, name); }

enum { most_parameters = 64 };

static bool set_binary(int *formats, int count) {
    for (int i = 0; i < count && i < most_parameters; i++) formats[i] = 1;
    return count <= most_parameters;
}

bool pq_send_prepared(pq_connection *connection, const char *name, int count, const char *const *values, const int *lengths) {
    int formats[most_parameters];
    return set_binary(formats, count) && pq.sendQueryPrepared(connection, name, count, values, lengths, formats, 1);
}

bool pq_send_parameters(
    pq_connection *connection, const char *text, int count, const pq_oid *types, const char *const *values, const int *lengths) {
    int formats[most_parameters];
    return set_binary(formats, count) && pq.sendQueryParams(connection, text, count, types, values, lengths, formats, 1);
}

bool pq_put_copy_data(pq_connection *connection, const char *bytes, int count) {
    return pq.putCopyData(connection, bytes, count) == 1;
}

bool pq_put_copy_end(pq_connection *connection) { return pq.putCopyEnd(connection, NULL) == 1; }

bool pq_consume_input(pq_connection *connection) { return pq.consumeInput(connection); }

int pq_take_notifications(pq_connection *connection) {
    int count = 0;
    void *notification;
    // A lost connection is detected when the connection is used next.
    (void)pq.consumeInput(connection);
    while ((notification = pq.notifies(connection)) != NULL) {
        pq.freemem(notification);
        count++;
    }
    return count;
}

bool pq_is_busy(pq_connection *connection) { return pq.isBusy(connection); }
pq_result *pq_get_result(pq_connection *connection) { return pq.getResult(connection); }

int pq_result_status(const pq_result *result) { return pq.resultStatus(result); }
const char *pq_result_field(const pq_result *result, int field) { return pq.resultErrorField(result, field); }
const char *pq_command_status(pq_result *result) { return pq.cmdStatus(result); }
const char *pq_command_rows(pq_result *result) { return pq.cmdTuples(result); }
int pq_parameter_count(const pq_result *result) { return pq.nparams(result); }
pq_oid pq_parameter_type(const pq_result *result, int parameter) { return pq.paramtype(result, parameter); }
int pq_row_count(const pq_result *result) { return pq.ntuples(result); }
pq_oid pq_column_type(const pq_result *result, int column) { return pq.ftype(result, column); }
bool pq_is_null(const pq_result *result, int row, int column) { return pq.getisnull(result, row, column); }
int pq_length(const pq_result *result, int row, int column) { return pq.getlength(result, row, column); }
const char *pq_value(const pq_result *result, int row, int column) { return pq.getvalue(result, row, column); }
void pq_clear(pq_result *result) { pq.clear(result); }

// If the headers of libpq are installed, the compiler checks the numbers and types above against them.
#if __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>

#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs)
SAME(PQ_POLLING_FAILED, PGRES_POLLING_FAILED);
SAME(PQ_POLLING_READING, PGRES_POLLING_READING);
SAME(PQ_POLLING_WRITING, PGRES_POLLING_WRITING);
SAME(PQ_POLLING_OK, PGRES_POLLING_OK);
SAME(PQ_FATAL_ERROR, PGRES_FATAL_ERROR);
SAME(PQ_IDLE, PQTRANS_IDLE);
SAME(1, CONNECTION_BAD);
SAME(2, PQERRORS_VERBOSE);
SAME(PQ_FIELD_SQLSTATE, PG_DIAG_SQLSTATE);
SAME(PQ_FIELD_MESSAGE, PG_DIAG_MESSAGE_PRIMARY);
SAME(sizeof(pq_oid), sizeof(Oid));
SAME(sizeof(struct option), sizeof(PQconninfoOption));
SAME(offsetof(struct option, keyword), offsetof(PQconninfoOption, keyword));
SAME(offsetof(struct option, val), offsetof(PQconninfoOption, val));
SAME(offsetof(struct option, dispsize), offsetof(PQconninfoOption, dispsize));
#endif
