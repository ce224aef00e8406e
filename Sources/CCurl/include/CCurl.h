// libcurl, loaded on first use. Linking it would add 5 ms to every start, and Swift cannot call its variadic functions. Therefore this
// module provides a table of typed function pointers (filled by dlopen and dlsym), typed setters, and the callbacks. It needs no header of
// libcurl: numbers and types are those of curl/curl.h and curl/urlapi.h, whose ABI is stable. Where the headers are installed, CCurl.c
// checks them.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

/// A `CURL *`: settings and open connections.
struct ccurl_easy;
/// A `CURLU *`: a parsed URL.
struct ccurl_url;
/// A `curl_slist`: a list of lines.
struct ccurl_list;

/// The functions of libcurl. Filled by `ccurl_open` and not changed afterwards.
struct ccurl {
    int (*global_init)(long flags);
    struct ccurl_easy *(*easy_init)(void);
    void (*easy_reset)(struct ccurl_easy *);
    void (*easy_cleanup)(struct ccurl_easy *);
    int (*easy_perform)(struct ccurl_easy *);
    int (*easy_setopt)(struct ccurl_easy *, int option, ...);
    int (*easy_getinfo)(struct ccurl_easy *, int information, ...);
    struct ccurl_list *(*slist_append)(struct ccurl_list *, const char *line);
    void (*slist_free_all)(struct ccurl_list *);
    struct ccurl_url *(*url)(void);
    int (*url_set)(struct ccurl_url *, int part, const char *text, unsigned int flags);
    int (*url_get)(struct ccurl_url *, int part, char **text, unsigned int flags);
    void (*url_cleanup)(struct ccurl_url *);
    void (*free)(void *);
};

/// Loads the library `name` (a soname) and fills `curl`. Returns false with a message in `reason` if the library cannot be used.
bool ccurl_open(struct ccurl *curl, const char *name, char *reason, size_t capacity);

/// CURLOPT_… with a value of type long.
enum ccurl_number {
    CCURL_SSLVERSION = 32,
    CCURL_NOPROGRESS = 43,
    CCURL_UPLOAD = 46,
    CCURL_POST = 47,
    CCURL_FOLLOWLOCATION = 52,
    CCURL_SSL_VERIFYPEER = 64,
    CCURL_MAXCONNECTS = 71,
    CCURL_FRESH_CONNECT = 74,
    CCURL_HTTPGET = 80,
    CCURL_SSL_VERIFYHOST = 81,
    CCURL_NOSIGNAL = 99,
    CCURL_SERVER_RESPONSE_TIMEOUT = 112,
    CCURL_USE_SSL = 119,
    CCURL_TIMEOUT_MS = 155,
    CCURL_CONNECTTIMEOUT_MS = 156,
    CCURL_PROTOCOLS = 181,
    CCURL_SUPPRESS_CONNECT_HEADERS = 265,
    CCURL_QUICK_EXIT = 322,
};
int ccurl_set_number(const struct ccurl *curl, struct ccurl_easy *easy, enum ccurl_number option, long value);

/// CURLOPT_… with a text value, which libcurl copies.
enum ccurl_text {
    CCURL_URL = 10002,
    CCURL_PROXY = 10004,
    CCURL_USERAGENT = 10018,
    CCURL_CAINFO = 10065,
    CCURL_CAPATH = 10097,
    CCURL_USERNAME = 10173,
    CCURL_PASSWORD = 10174,
    CCURL_NOPROXY = 10177,
    CCURL_MAIL_FROM = 10186,
    CCURL_LOGIN_OPTIONS = 10224,
    CCURL_PROTOCOLS_STR = 10318,
};
int ccurl_set_text(const struct ccurl *curl, struct ccurl_easy *easy, enum ccurl_text option, const char *value);

/// CURLOPT_HTTPHEADER. The list must stay valid until it is replaced.
int ccurl_set_headers(const struct ccurl *curl, struct ccurl_easy *easy, struct ccurl_list *lines);

/// CURLOPT_POSTFIELDS. The bytes must stay valid until they are replaced.
int ccurl_set_body(const struct ccurl *curl, struct ccurl_easy *easy, const void *bytes, size_t count);

/// CURLOPT_MAIL_RCPT. The list must stay valid until it is replaced.
int ccurl_set_recipients(const struct ccurl *curl, struct ccurl_easy *easy, struct ccurl_list *addresses);

/// The data of an upload, and the number of bytes that libcurl has read.
struct ccurl_upload {
    const char *bytes;
    size_t count;
    size_t taken;
};

/// CURLOPT_UPLOAD with CURLOPT_READFUNCTION. The upload must stay valid until it is replaced.
int ccurl_set_upload(const struct ccurl *curl, struct ccurl_easy *easy, struct ccurl_upload *upload);

/// The callbacks of a transfer. Each function receives `context`. A result of false ends the transfer.
struct ccurl_callbacks {
    void *context;
    /// Returns whether a connection to the address is allowed; called before every new connection.
    bool (*admits)(void *context, const struct sockaddr *address);
    /// Receives one header line with its line break; a status line begins each header.
    bool (*header)(void *context, const char *bytes, size_t count);
    /// Receives a piece of the body.
    bool (*body)(void *context, const char *bytes, size_t count);
    /// Returns whether to continue; called at least about once a second.
    bool (*continues)(void *context);
};

/// CURL_ERROR_SIZE.
enum { CCURL_REASON_CAPACITY = 256 };

/// Runs the transfer on this thread and returns its CURLcode; `reason` receives libcurl's message. Does not raise SIGPIPE.
int ccurl_perform(
    const struct ccurl *curl, struct ccurl_easy *easy, const struct ccurl_callbacks *callbacks, char reason[CCURL_REASON_CAPACITY]);

/// CURLINFO_RESPONSE_CODE.
long ccurl_status(const struct ccurl *curl, struct ccurl_easy *easy);

/// CURLINFO_REDIRECT_URL: the target of a redirect, or NULL. Valid until the next transfer.
const char *ccurl_redirect(const struct ccurl *curl, struct ccurl_easy *easy);
