#define _GNU_SOURCE
#include "CZeroOnFree.h"

#include <malloc.h>
#include <stddef.h>
#include <string.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void __libc_free(void *block);

/// Returns whether a block has its own memory mapping, which `free` returns to the kernel. Erasing such a block would only cost time.
static int is_mapped(void *block) { return (((size_t *)block)[-1] & 2) != 0; }

void free(void *block) {
    if (!block) return;
    if (!is_mapped(block)) explicit_bzero(block, malloc_usable_size(block));
    __libc_free(block);
}

void *realloc(void *block, size_t size) {
    if (!block) return __libc_malloc(size);
    if (size == 0) {
        free(block);
        return NULL;
    }
    size_t room = malloc_usable_size(block);
    // The kernel moves the pages of such a block without copying.
    if (is_mapped(block)) return __libc_realloc(block, size);
    if (size <= room) {
        explicit_bzero((char *)block + size, room - size);
        // glibc releases the rest of the block in place.
        return __libc_realloc(block, size);
    }
    void *larger = __libc_malloc(size);
    if (!larger) return NULL;
    memcpy(larger, block, room);
    free(block);
    return larger;
}
