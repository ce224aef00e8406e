#ifndef CGUARD_H
#define CGUARD_H

#include <stdbool.h>
#include <stddef.h>

/// Keeps the memory of this process out of core files and inaccessible to other processes of the same user (debuggers, /proc/PID/mem).
///
/// RLIMIT_CORE of 0 has no effect if the core_pattern is a program; PR_SET_DUMPABLE does.
void guard_forbid_core_dumps(void);

/// Reverts guard_forbid_core_dumps.
void guard_allow_core_dumps(void);

/// Marks this thread as having processed a secret.
void guard_note_secret(void);

/// Returns whether this thread has processed a secret since the last call of guard_wipe_stack.
bool guard_has_secret(void);

/// If this thread has processed a secret since the last call, overwrites the part of its stack that returned functions have used, up to 192
/// KiB.
void guard_wipe_stack(void);

/// Clears the vector registers of this thread, which keep the data that was last copied or searched. The dynamic loader could otherwise
/// save them to the stack later.
void guard_wipe_registers(void);

/// Gives this thread a name, which top -H and debuggers show.
void guard_name_thread(const char *name);

/// Lets the allocator extend the memory of this thread once instead of page by page. glibc extends the arena of a thread with a system call
/// for each page. Nothing is written, so no page becomes resident. Does nothing if the program does not use CZeroOnFree, because it may then
/// have another allocator.
void guard_reserve_heap(size_t bytes);

#endif
