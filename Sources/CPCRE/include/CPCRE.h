// PCRE2 for UTF-8 text, loaded on first use: one function that compiles, and one that matches within limits.
// It needs no header of PCRE2: numbers and types are those of pcre2.h, whose ABI is stable.
// Source: pcre2api(3), pcre2callout(3).
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A compiled pattern. It is immutable, so threads can share it.
struct cpcre_code;

/// Loads the library `name` (a soname) if it is not loaded yet. Returns NULL, or the reason it cannot be used, which stays valid.
const char *cpcre_load(const char *name);

enum { CPCRE_REASON_CAPACITY = 256 };

/// Compiles a UTF-8 pattern. If the pattern is not valid, returns NULL and sets `offset` (in bytes) and `reason` (PCRE2's message).
///
/// - `is_whole`: Whether the pattern must match from the first to the last byte.
struct cpcre_code *cpcre_compile(const char *pattern, size_t count, bool is_whole, size_t *offset, char reason[CPCRE_REASON_CAPACITY]);
void cpcre_free(struct cpcre_code *code);

/// The limits of a match. If one is exceeded, the match is aborted.
struct cpcre_limits {
    /// The maximum number of internal calls of the matcher.
    uint32_t steps;
    /// The maximum depth of nested calls.
    uint32_t depth;
    /// The maximum memory, in KiB.
    uint32_t heap;
    /// The maximum processor time of this thread, in nanoseconds.
    uint64_t nanoseconds;
};

enum cpcre_verdict {
    CPCRE_NO = 0,
    CPCRE_YES = 1,
    CPCRE_TOO_EXPENSIVE = 2,
    /// The match failed for a reason other than the text and the pattern, such as lack of memory.
    CPCRE_FAILED = 3,
};

/// Matches a text, which must be valid UTF-8.
enum cpcre_verdict cpcre_match(const struct cpcre_code *code, const char *text, size_t count, const struct cpcre_limits *limits);
