// PCRE2 for bytes of UTF-8, loaded when first needed: one function that compiles, one that matches within limits.
// No header of PCRE2 is needed; numbers and shapes are those of pcre2.h, whose ABI is stable.
// Source: pcre2api(3), pcre2callout(3).
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A compiled pattern. It is never changed, so threads may share it.
struct cpcre_code;

/// Loads the library `name` (a soname), once for all. NULL, or why it cannot be used; the text lives for ever.
const char *cpcre_load(const char *name);

enum { CPCRE_REASON_CAPACITY = 256 };

/// Compiles a pattern of UTF-8. NULL when it cannot be; `offset` is then where in its bytes, `reason` PCRE2's own words.
///
/// - `is_whole`: whether it must match from the first to the last byte.
struct cpcre_code *cpcre_compile(const char *pattern, size_t count, bool is_whole, size_t *offset, char reason[CPCRE_REASON_CAPACITY]);
void cpcre_free(struct cpcre_code *code);

/// What a match may cost. Beyond any of them it is given up.
struct cpcre_limits {
    /// How often the matcher may call itself, in all.
    uint32_t steps;
    /// How deeply.
    uint32_t depth;
    /// KiB of memory.
    uint32_t heap;
    /// Processor time of this thread, in nanoseconds.
    uint64_t nanoseconds;
};

enum cpcre_verdict {
    CPCRE_NO = 0,
    CPCRE_YES = 1,
    CPCRE_TOO_EXPENSIVE = 2,
    /// Neither, for a reason that is neither the text's nor the pattern's: no memory.
    CPCRE_FAILED = 3,
};

/// Matches a text that is valid UTF-8.
enum cpcre_verdict cpcre_match(const struct cpcre_code *code, const char *text, size_t count, const struct cpcre_limits *limits);
