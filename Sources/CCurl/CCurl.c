#define _GNU_SOURCE
#include "CCurl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

bool ccurl_open(struct ccurl *curl, const char *name, char *reason, size_t capacity) {
    // The library is never closed: OpenSSL, which it loads, cannot be unloaded.
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(reason, capacity, "%s", dlerror());
        return false;
    }
    const struct {
        const char *name;
        void *slot;
    } functions[] = {
        {"curl_global_init", &curl->global_init},   {"curl_easy_init", &curl->easy_init},       {"curl_easy_reset", &curl->easy_reset},
        {"curl_easy_cleanup", &curl->easy_cleanup}, {"curl_easy_perform", &curl->easy_perform}, {"curl_easy_setopt", &curl->easy_setopt},
        {"curl_easy_getinfo", &curl->easy_getinfo}, {"curl_slist_append", &curl->slist_append}, {"curl_slist_free_all", &curl->slist_free_all},
        {"curl_url", &curl->url},                   {"curl_url_set", &curl->url_set},           {"curl_url_get", &curl->url_get},
        {"curl_url_cleanup", &curl->url_cleanup},   {"curl_free", &curl->free},
    };
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *function = dlsym(library, functions[i].name);
        if (!function) {
            snprintf(reason, capacity, "%s has no %s; libcurl 7.62 or newer is needed", name, functions[i].name);
            return false;
        }
        *(void **)functions[i].slot = function;
    }
    // Before libcurl 7.84, this function is not safe to call on two threads at the same time.
    static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&alone);
    int code = curl->global_init(3);  // CURL_GLOBAL_ALL
    pthread_mutex_unlock(&alone);
    if (code != 0) snprintf(reason, capacity, "%s could not be prepared (CURLcode %d)", name, code);
    return code == 0;
}

int ccurl_set_number(const struct ccurl *curl, struct ccurl_easy *easy, enum ccurl_number option, long value) {
    return curl->easy_setopt(easy, (int)option, value);
}

int ccurl_set_text(const struct ccurl *curl, struct ccurl_easy *easy, enum ccurl_text option, const char *value) {
    return curl->easy_setopt(easy, (int)option, value);
}

int ccurl_set_headers(const struct ccurl *curl, struct ccurl_easy *easy, struct ccurl_list *lines) {
    return curl->easy_setopt(easy, 10023, lines);
}

int ccurl_set_body(const struct ccurl *curl, struct ccurl_easy *easy, const void *bytes, size_t count) {
    int code = curl->easy_setopt(easy, 30120, (int64_t)count);  // CURLOPT_POSTFIELDSIZE_LARGE
    return code != 0 ? code : curl->easy_setopt(easy, 10015, bytes);
}

int ccurl_set_recipients(const struct ccurl *curl, struct ccurl_easy *easy, struct ccurl_list *addresses) {
    return curl->easy_setopt(easy, 10187, addresses);
}

static size_t give_upload(char *space, size_t size, size_t count, void *context) {
    struct ccurl_upload *upload = context;
    size_t piece = upload->count - upload->taken;
    if (piece > size * count) piece = size * count;
    if (piece > 0) memcpy(space, upload->bytes + upload->taken, piece);
    upload->taken += piece;
    return piece;
}

int ccurl_set_upload(const struct ccurl *curl, struct ccurl_easy *easy, struct ccurl_upload *upload) {
    int code = curl->easy_setopt(easy, CCURL_UPLOAD, 1L);
    if (code == 0) code = curl->easy_setopt(easy, 30115, (int64_t)upload->count);  // CURLOPT_INFILESIZE_LARGE
    if (code == 0) code = curl->easy_setopt(easy, 20012, give_upload);             // CURLOPT_READFUNCTION
    return code != 0 ? code : curl->easy_setopt(easy, 10009, upload);              // CURLOPT_READDATA
}

/// struct curl_sockaddr. The length of its last member is `length`.
struct address {
    int family;
    int kind;
    int protocol;
    unsigned int length;
    struct sockaddr address;
};

static int open_socket(void *context, int purpose, struct address *address) {
    (void)purpose;
    const struct ccurl_callbacks *callbacks = context;
    if (!callbacks->admits(callbacks->context, &address->address)) return -1;  // CURL_SOCKET_BAD
    return socket(address->family, address->kind | SOCK_CLOEXEC, address->protocol);
}

static size_t take_header(const char *bytes, size_t size, size_t count, void *context) {
    const struct ccurl_callbacks *callbacks = context;
    return callbacks->header(callbacks->context, bytes, size * count) ? size * count : 0;
}

static size_t take_body(const char *bytes, size_t size, size_t count, void *context) {
    const struct ccurl_callbacks *callbacks = context;
    // Returning 0 for an empty piece would mean success, so a rejection returns one byte too many.
    return callbacks->body(callbacks->context, bytes, size * count) ? size * count : size * count + 1;
}

static int report_progress(void *context, int64_t toReceive, int64_t received, int64_t toSend, int64_t sent) {
    (void)toReceive, (void)received, (void)toSend, (void)sent;
    const struct ccurl_callbacks *callbacks = context;
    return callbacks->continues(callbacks->context) ? 0 : 1;
}

int ccurl_perform(
    const struct ccurl *curl, struct ccurl_easy *easy, const struct ccurl_callbacks *callbacks, char reason[CCURL_REASON_CAPACITY]) {
    void *context = (void *)callbacks;
    reason[0] = 0;
    curl->easy_setopt(easy, 10010, reason);           // CURLOPT_ERRORBUFFER
    curl->easy_setopt(easy, 20163, open_socket);      // CURLOPT_OPENSOCKETFUNCTION
    curl->easy_setopt(easy, 10164, context);          // CURLOPT_OPENSOCKETDATA
    curl->easy_setopt(easy, 20079, take_header);      // CURLOPT_HEADERFUNCTION
    curl->easy_setopt(easy, 10029, context);          // CURLOPT_HEADERDATA
    curl->easy_setopt(easy, 20011, take_body);        // CURLOPT_WRITEFUNCTION
    curl->easy_setopt(easy, 10001, context);          // CURLOPT_WRITEDATA
    curl->easy_setopt(easy, 20219, report_progress);  // CURLOPT_XFERINFOFUNCTION
    curl->easy_setopt(easy, 10057, context);          // CURLOPT_XFERINFODATA

    // Even with CURLOPT_NOSIGNAL, OpenSSL can raise SIGPIPE if the server closes the connection. The signal is blocked and then consumed.
    sigset_t pipe, before, pending;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    int code = curl->easy_perform(easy);
    if (!sigismember(&pending, SIGPIPE)) {
        const struct timespec now = {0, 0};
        sigtimedwait(&pipe, NULL, &now);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    curl->easy_setopt(easy, 10010, NULL);
    return code;
}

long ccurl_status(const struct ccurl *curl, struct ccurl_easy *easy) {
    long status = 0;
    return curl->easy_getinfo(easy, 0x200002, &status) == 0 ? status : 0;
}

const char *ccurl_redirect(const struct ccurl *curl, struct ccurl_easy *easy) {
    const char *url = NULL;
    return curl->easy_getinfo(easy, 0x10001f, &url) == 0 ? url : NULL;
}

// If the headers of libcurl are installed, the compiler checks the numbers and types above against them.
#if __has_include(<curl/curl.h>)
#define CURL_DISABLE_DEPRECATION
#include <curl/curl.h>

#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs)
SAME(3, CURL_GLOBAL_ALL);
SAME(CCURL_SSLVERSION, CURLOPT_SSLVERSION);
SAME(CCURL_NOPROGRESS, CURLOPT_NOPROGRESS);
SAME(CCURL_UPLOAD, CURLOPT_UPLOAD);
SAME(CCURL_POST, CURLOPT_POST);
SAME(CCURL_FOLLOWLOCATION, CURLOPT_FOLLOWLOCATION);
SAME(CCURL_SSL_VERIFYPEER, CURLOPT_SSL_VERIFYPEER);
SAME(CCURL_MAXCONNECTS, CURLOPT_MAXCONNECTS);
SAME(CCURL_FRESH_CONNECT, CURLOPT_FRESH_CONNECT);
SAME(CCURL_HTTPGET, CURLOPT_HTTPGET);
SAME(CCURL_SSL_VERIFYHOST, CURLOPT_SSL_VERIFYHOST);
SAME(CCURL_NOSIGNAL, CURLOPT_NOSIGNAL);
SAME(CCURL_SERVER_RESPONSE_TIMEOUT, CURLOPT_SERVER_RESPONSE_TIMEOUT);
SAME(CCURL_USE_SSL, CURLOPT_USE_SSL);
SAME(CCURL_TIMEOUT_MS, CURLOPT_TIMEOUT_MS);
SAME(CCURL_CONNECTTIMEOUT_MS, CURLOPT_CONNECTTIMEOUT_MS);
SAME(CCURL_PROTOCOLS, CURLOPT_PROTOCOLS);
SAME(CCURL_SUPPRESS_CONNECT_HEADERS, CURLOPT_SUPPRESS_CONNECT_HEADERS);
SAME(CCURL_URL, CURLOPT_URL);
SAME(CCURL_PROXY, CURLOPT_PROXY);
SAME(CCURL_USERAGENT, CURLOPT_USERAGENT);
SAME(CCURL_CAINFO, CURLOPT_CAINFO);
SAME(CCURL_CAPATH, CURLOPT_CAPATH);
SAME(CCURL_USERNAME, CURLOPT_USERNAME);
SAME(CCURL_PASSWORD, CURLOPT_PASSWORD);
SAME(CCURL_NOPROXY, CURLOPT_NOPROXY);
SAME(CCURL_MAIL_FROM, CURLOPT_MAIL_FROM);
SAME(CCURL_LOGIN_OPTIONS, CURLOPT_LOGIN_OPTIONS);
#if LIBCURL_VERSION_NUM >= 0x075500
SAME(CCURL_PROTOCOLS_STR, CURLOPT_PROTOCOLS_STR);
#endif
#if LIBCURL_VERSION_NUM >= 0x075700
SAME(CCURL_QUICK_EXIT, CURLOPT_QUICK_EXIT);
#endif
SAME(10001, CURLOPT_WRITEDATA);
SAME(10009, CURLOPT_READDATA);
SAME(10010, CURLOPT_ERRORBUFFER);
SAME(10015, CURLOPT_POSTFIELDS);
SAME(10023, CURLOPT_HTTPHEADER);
SAME(10029, CURLOPT_HEADERDATA);
SAME(10057, CURLOPT_XFERINFODATA);
SAME(10164, CURLOPT_OPENSOCKETDATA);
SAME(10187, CURLOPT_MAIL_RCPT);
SAME(20011, CURLOPT_WRITEFUNCTION);
SAME(20012, CURLOPT_READFUNCTION);
SAME(20079, CURLOPT_HEADERFUNCTION);
SAME(20163, CURLOPT_OPENSOCKETFUNCTION);
SAME(20219, CURLOPT_XFERINFOFUNCTION);
SAME(30115, CURLOPT_INFILESIZE_LARGE);
SAME(30120, CURLOPT_POSTFIELDSIZE_LARGE);
SAME(0x200002, CURLINFO_RESPONSE_CODE);
SAME(0x10001f, CURLINFO_REDIRECT_URL);
SAME(CCURL_REASON_CAPACITY, CURL_ERROR_SIZE);
SAME(-1, CURL_SOCKET_BAD);
// RequestURL.Part
SAME(0, CURLUPART_URL);
SAME(1, CURLUPART_SCHEME);
SAME(2, CURLUPART_USER);
SAME(3, CURLUPART_PASSWORD);
SAME(5, CURLUPART_HOST);
SAME(6, CURLUPART_PORT);
SAME(9, CURLUPART_FRAGMENT);
SAME(1 << 0, CURLU_DEFAULT_PORT);
SAME(1 << 3, CURLU_NON_SUPPORT_SCHEME);
// CurlExchange.reason
SAME(3, CURLE_URL_MALFORMAT);
SAME(5, CURLE_COULDNT_RESOLVE_PROXY);
SAME(6, CURLE_COULDNT_RESOLVE_HOST);
SAME(7, CURLE_COULDNT_CONNECT);
SAME(28, CURLE_OPERATION_TIMEDOUT);
SAME(35, CURLE_SSL_CONNECT_ERROR);
SAME(56, CURLE_RECV_ERROR);
SAME(60, CURLE_PEER_FAILED_VERIFICATION);
SAME(77, CURLE_SSL_CACERT_BADFILE);
SAME(97, CURLE_PROXY);
SAME(sizeof(int64_t), sizeof(curl_off_t));
SAME(sizeof(struct address), sizeof(struct curl_sockaddr));
SAME(offsetof(struct address, family), offsetof(struct curl_sockaddr, family));
SAME(offsetof(struct address, kind), offsetof(struct curl_sockaddr, socktype));
SAME(offsetof(struct address, protocol), offsetof(struct curl_sockaddr, protocol));
SAME(offsetof(struct address, length), offsetof(struct curl_sockaddr, addrlen));
SAME(offsetof(struct address, address), offsetof(struct curl_sockaddr, addr));
#endif
