#define _GNU_SOURCE
#include "CPCRE.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct compile_context;
struct match_context;
struct match_data;

/// A callout function. The block is a pcre2_callout_block, which is not read.
typedef int (*callout)(const void *block, void *context);

static struct {
    struct cpcre_code *(*compile)(const char *, size_t, uint32_t, int *, size_t *, struct compile_context *);
    void (*code_free)(struct cpcre_code *);
    int (*get_error_message)(int, char *, size_t);
    struct compile_context *(*compile_context_create)(void *);
    void (*compile_context_free)(struct compile_context *);
    int (*set_parens_nest_limit)(struct compile_context *, uint32_t);
    struct match_context *(*match_context_create)(void *);
    void (*match_context_free)(struct match_context *);
    int (*set_match_limit)(struct match_context *, uint32_t);
    int (*set_depth_limit)(struct match_context *, uint32_t);
    int (*set_heap_limit)(struct match_context *, uint32_t);
    int (*set_callout)(struct match_context *, callout, void *);
    struct match_data *(*match_data_create)(uint32_t, void *);
    void (*match_data_free)(struct match_data *);
    int (*match)(const struct cpcre_code *, const char *, size_t, size_t, uint32_t, struct match_data *, struct match_context *);
} pcre;

static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;
static bool is_loaded;
static char failure[512];

static bool load(const char *name) {
    // The function pointers are used until the process exits, so the library is never closed.
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        snprintf(failure, sizeof failure, "%s", dlerror());
        return false;
    }
    const struct {
        const char *name;
        void *slot;
    } functions[] = {
        {"pcre2_compile_8", &pcre.compile},
        {"pcre2_code_free_8", &pcre.code_free},
        {"pcre2_get_error_message_8", &pcre.get_error_message},
        {"pcre2_compile_context_create_8", &pcre.compile_context_create},
        {"pcre2_compile_context_free_8", &pcre.compile_context_free},
        {"pcre2_set_parens_nest_limit_8", &pcre.set_parens_nest_limit},
        {"pcre2_match_context_create_8", &pcre.match_context_create},
        {"pcre2_match_context_free_8", &pcre.match_context_free},
        {"pcre2_set_match_limit_8", &pcre.set_match_limit},
        {"pcre2_set_depth_limit_8", &pcre.set_depth_limit},
        {"pcre2_set_heap_limit_8", &pcre.set_heap_limit},
        {"pcre2_set_callout_8", &pcre.set_callout},
        {"pcre2_match_data_create_8", &pcre.match_data_create},
        {"pcre2_match_data_free_8", &pcre.match_data_free},
        {"pcre2_match_8", &pcre.match},
    };
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *function = dlsym(library, functions[i].name);
        if (!function) {
            snprintf(failure, sizeof failure, "%s has no %s; PCRE2 10.30 or newer is needed", name, functions[i].name);
            return false;
        }
        *(void **)functions[i].slot = function;
    }
    return true;
}

const char *cpcre_load(const char *name) {
    pthread_mutex_lock(&alone);
    // A failure is not cached, because the library can be installed later.
    if (!is_loaded) is_loaded = load(name);
    const char *reason = is_loaded ? NULL : failure;
    pthread_mutex_unlock(&alone);
    return reason;
}

/// PCRE2_… options.
enum {
    DOLLAR_ENDONLY = 0x10,
    AUTO_CALLOUT = 0x4,
    NEVER_BACKSLASH_C = 0x100000,
    UTF = 0x80000,
    NO_UTF_CHECK = 0x40000000,
    ENDANCHORED = 0x20000000,
};
static const uint32_t ANCHORED = 0x80000000;

struct cpcre_code *cpcre_compile(const char *pattern, size_t count, bool is_whole, size_t *offset, char reason[CPCRE_REASON_CAPACITY]) {
    *offset = 0;
    snprintf(reason, CPCRE_REASON_CAPACITY, "there is no memory left");
    struct compile_context *context = pcre.compile_context_create(NULL);
    if (!context) return NULL;
    pcre.set_parens_nest_limit(context, 50);
    // The time limit is checked in a callout before each item.
    uint32_t options = UTF | NEVER_BACKSLASH_C | DOLLAR_ENDONLY | AUTO_CALLOUT | (is_whole ? ANCHORED | ENDANCHORED : 0);
    int error = 0;
    struct cpcre_code *code = pcre.compile(pattern, count, options, &error, offset, context);
    if (!code) pcre.get_error_message(error, reason, CPCRE_REASON_CAPACITY);
    pcre.compile_context_free(context);
    return code;
}

void cpcre_free(struct cpcre_code *code) { pcre.code_free(code); }

struct watch {
    uint64_t deadline;
    uint32_t callouts;
};

/// Returns the processor time of this thread, so that load from other processes does not shorten the limit.
static uint64_t processor_time(void) {
    struct timespec time = {0, 0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static int look_at_clock(const void *block, void *context) {
    (void)block;
    struct watch *watch = context;
    if (++watch->callouts % 64 != 0) return 0;
    return processor_time() > watch->deadline ? -37 : 0;  // PCRE2_ERROR_CALLOUT
}

enum cpcre_verdict cpcre_match(const struct cpcre_code *code, const char *text, size_t count, const struct cpcre_limits *limits) {
    struct match_context *context = pcre.match_context_create(NULL);
    struct match_data *data = pcre.match_data_create(1, NULL);
    enum cpcre_verdict verdict = CPCRE_FAILED;
    if (context && data) {
        struct watch watch = {processor_time() + limits->nanoseconds, 0};
        pcre.set_match_limit(context, limits->steps);
        pcre.set_depth_limit(context, limits->depth);
        pcre.set_heap_limit(context, limits->heap);
        pcre.set_callout(context, look_at_clock, &watch);
        int result = pcre.match(code, text, count, 0, NO_UTF_CHECK, data, context);
        switch (result) {
            case -1: verdict = CPCRE_NO; break;
            case -37: case -47: case -52: case -53: case -63:  // callout, match limit, recursion loop, depth limit, heap limit
                verdict = CPCRE_TOO_EXPENSIVE;
                break;
            default: verdict = result >= 0 ? CPCRE_YES : CPCRE_FAILED;
        }
    }
    if (data) pcre.match_data_free(data);
    if (context) pcre.match_context_free(context);
    return verdict;
}
