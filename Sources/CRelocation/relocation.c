#include "CRelocation.h"

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>

// The program applies its relative relocations itself: in the packed form (RELR) they take 15 KB instead of 1.5 MB, but the dynamic loader
// of glibc reads that form only from version 2.36 on. Packages promise 2.35. The linker therefore uses the tags of Android, which every
// version of glibc ignores. All other relocations are applied by the loader before the entry point is called.

enum { packed_relocations = 0x6fffe000, size_of_packed_relocations = 0x6fffe001 };
enum { populate_for_writing = 23 };  // MADV_POPULATE_WRITE, which the headers of older systems do not have

#pragma GCC visibility push(hidden)
extern ElfW(Dyn) _DYNAMIC[];
extern const ElfW(Ehdr) __ehdr_start;
extern char __bss_start, _end;
void mintmark_relocate(void);
#pragma GCC visibility pop

/// Adds the address of the program to each pointer of the table. An even entry is the address of a pointer; an odd one has a bit for each
/// of the next 63 pointers.
static void relocate(uintptr_t base, const uintptr_t *entry, const uintptr_t *end) {
    uintptr_t *next = 0;
    for (; entry < end; entry++) {
        if ((*entry & 1) == 0) {
            next = (uintptr_t *)(base + *entry);
            *next++ += base;
            continue;
        }
        uintptr_t *pointer = next;
        for (uintptr_t bits = *entry >> 1; bits != 0; bits >>= 1, pointer++) {
            if (bits & 1) *pointer += base;
        }
        next += sizeof(uintptr_t) * 8 - 1;
    }
}

/// Returns the end of the last pointer of the table.
static uintptr_t last(uintptr_t base, const uintptr_t *entry, const uintptr_t *end) {
    uintptr_t next = 0;
    for (; entry < end; entry++) next = (*entry & 1) == 0 ? base + *entry + sizeof(uintptr_t) : next + (sizeof(uintptr_t) * 8 - 1) * sizeof(uintptr_t);
    return next;
}

/// Nothing in here may read a pointer of the program's data: none is valid yet.
__attribute__((used)) void mintmark_relocate(void) {
    uintptr_t base = (uintptr_t)&__ehdr_start;
    uintptr_t first = 0, size = 0;
    for (const ElfW(Dyn) *each = _DYNAMIC; each->d_tag != DT_NULL; each++) {
        if (each->d_tag == packed_relocations) first = base + each->d_un.d_ptr;
        if (each->d_tag == size_of_packed_relocations) size = each->d_un.d_val;
    }
    if (size == 0) return;

    // The loader has protected what it relocated; the same pages are protected again afterwards.
    uintptr_t page = getauxval(AT_PAGESZ), start = 0, end = 0;
    const ElfW(Phdr) *segments = (const ElfW(Phdr) *)(base + __ehdr_start.e_phoff);
    for (int i = 0; i < __ehdr_start.e_phnum; i++) {
        if (segments[i].p_type != PT_GNU_RELRO) continue;
        start = (base + segments[i].p_vaddr) & ~(page - 1);
        end = (base + segments[i].p_vaddr + segments[i].p_memsz) & ~(page - 1);
    }
    if (start < end && mprotect((void *)start, end - start, PROT_READ | PROT_WRITE) != 0) __builtin_trap();
    // Almost every page from the first pointer to the last is changed: one call copies them in a fraction of the time of as many faults. A
    // kernel before Linux 5.14 does not know the call, which then has no effect.
    const uintptr_t *entries = (const uintptr_t *)first, *stop = (const uintptr_t *)(first + size);
    uintptr_t changed = (base + entries[0]) & ~(page - 1), unchanged = last(base, entries, stop);
    madvise((void *)changed, unchanged - changed, populate_for_writing);
    // A start writes to almost every page of the variables, too: they are spread over all modules.
    uintptr_t variables = (uintptr_t)&__bss_start & ~(page - 1);
    madvise((void *)variables, (uintptr_t)&_end - variables, populate_for_writing);
    relocate(base, entries, stop);
    if (start < end && mprotect((void *)start, end - start, PROT_READ) != 0) __builtin_trap();
}

// The registers of the entry point are those that `_start` expects: the stack, and the function that the loader wants to run at the exit.
#if defined(__x86_64__)
__asm__(
    ".text\n"
    ".globl mintmark_start\n"
    ".hidden mintmark_start\n"
    ".type mintmark_start, @function\n"
    "mintmark_start:\n"
    "    endbr64\n"
    "    movq %rdx, %rbx\n"
    "    call mintmark_relocate\n"
    "    movq %rbx, %rdx\n"
    "    jmp _start\n"
    ".size mintmark_start, . - mintmark_start\n");
#elif defined(__aarch64__)
__asm__(
    ".text\n"
    ".globl mintmark_start\n"
    ".hidden mintmark_start\n"
    ".type mintmark_start, %function\n"
    "mintmark_start:\n"
    "    hint #34\n"
    "    mov x19, x0\n"
    "    bl mintmark_relocate\n"
    "    mov x0, x19\n"
    "    b _start\n"
    ".size mintmark_start, . - mintmark_start\n");
#endif
