// swift-log has functions for Swift's concurrency, which the program never calls. They are in one object file with the functions that it
// calls, and would bring the runtime for tasks into the program, with libdispatch: 0.6 MB, of which 0.1 MB is changed at every start.
//
// These are the symbols that they need. They are weak: if a part of the program uses concurrency, the linker takes the runtime, whose
// definitions replace these. Otherwise, nothing calls them.

#define UNUSED(name, symbol) __attribute__((weak, visibility("hidden"), used)) void mintmark_unused_##name(void) __asm__(symbol);\
    void mintmark_unused_##name(void) { __builtin_trap(); }

UNUSED(alloc, "swift_task_alloc")
UNUSED(dealloc, "swift_task_dealloc")
UNUSED(switch, "swift_task_switch")
UNUSED(executor_cast, "_swift_implicitisolationactor_to_executor_cast")
// Swift.Actor.unownedExecutor
UNUSED(executor, "$sScA15unownedExecutorScevgTj")
// Swift.TaskLocal: its descriptor, `init(wrappedValue:)`, `get()`, and `withValue` for functions and for async functions.
UNUSED(task_local, "$ss9TaskLocalCMn")
UNUSED(task_local_init, "$ss9TaskLocalC12wrappedValueAByxGx_tcfc")
UNUSED(task_local_get, "$ss9TaskLocalC3getxyF")
UNUSED(task_local_with, "$ss9TaskLocalC9withValue_9operation4file4lineqd__x_qd__yKXESSSutKlF")
UNUSED(task_local_with_async, "$ss9TaskLocalC9withValue_9operation9isolation4file4lineqd__x_qd__yYaKXEScA_pSgYiSSSutYaKlF")
UNUSED(task_local_with_async_function, "$ss9TaskLocalC9withValue_9operation9isolation4file4lineqd__x_qd__yYaKXEScA_pSgYiSSSutYaKlFTu")
