#ifndef CZEROONFREE_H
#define CZEROONFREE_H

/// Linking this target into a program makes `free` and `realloc` of the whole process, including all libraries, overwrite memory before it
/// is released. Passwords, codes, tokens and keys pass through Swift strings, arrays and closures, which copy them without control and do
/// not erase them. Therefore all released memory is erased, regardless of its content.
///
/// glibc allows a program to replace its allocation functions; these replacements call those of glibc.

#include <stddef.h>

/// Lets glibc extend the arena of this thread once for about this many bytes.
void zero_on_free_reserve(size_t bytes);

#endif
