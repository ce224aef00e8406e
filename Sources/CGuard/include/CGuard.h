#ifndef CGUARD_H
#define CGUARD_H

#include <stdbool.h>

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

#endif
