#ifndef CGUARD_H
#define CGUARD_H

#include <stdbool.h>

/// Keeps the memory of this process out of core files, and from other processes of the same user (debuggers, /proc/PID/mem).
///
/// RLIMIT_CORE of 0 does not hold for a core_pattern that is a program, PR_SET_DUMPABLE does.
void guard_forbid_core_dumps(void);

/// Takes guard_forbid_core_dumps back.
void guard_allow_core_dumps(void);

/// Notes that functions on this thread handle something secret.
void guard_note_secret(void);

/// If something secret was noted since this was last called: overwrites the part of this thread's stack that functions which have returned
/// have used, up to 192 KiB.
void guard_wipe_stack(void);

/// Clears the vector registers of this thread, which keep what was copied or searched last. Without this the dynamic loader may save them
/// to the stack later.
void guard_wipe_registers(void);

#endif
