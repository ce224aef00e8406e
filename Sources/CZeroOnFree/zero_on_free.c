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

/// Called by guard_reserve_heap. The memory that the blocks have added to the arena stays accessible.
void zero_on_free_reserve(size_t bytes) {
    // Smaller than the blocks that glibc maps on their own.
    enum { step = 96 * 1024, most = 16 };
    void *blocks[most];
    int count = 0;
    while (count < most && (size_t)count * step < bytes && (blocks[count] = __libc_malloc(step))) count++;
    // From the first to the last: only the last one then leads to a system call. Nothing was written to them.
    for (int i = 0; i < count; i++) __libc_free(blocks[i]);
}
