#define _GNU_SOURCE
#include "CGuard.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

static struct rlimit limit_before;
static bool is_forbidden;

// The signals that Swift's runtime may catch to have another program print registers and the stack, including secrets. That program cannot
// attach to a process that is not dumpable, and the crashed process would wait for it forever.
static const int crashes[] = {SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV};
enum { crash_count = sizeof crashes / sizeof crashes[0] };
static struct sigaction actions_before[crash_count];

void guard_forbid_core_dumps(void) {
    if (!is_forbidden && getrlimit(RLIMIT_CORE, &limit_before) == 0) {
        // The hard limit does not change, so the process can enable core files again later.
        struct rlimit none = {0, limit_before.rlim_max};
        setrlimit(RLIMIT_CORE, &none);
        struct sigaction plain = {.sa_handler = SIG_DFL};
        for (int i = 0; i < crash_count; i++) {
            sigaction(crashes[i], NULL, &actions_before[i]);
            if (actions_before[i].sa_handler != SIG_IGN) sigaction(crashes[i], &plain, NULL);
        }
        is_forbidden = true;
    }
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

void guard_allow_core_dumps(void) {
    if (is_forbidden) {
        setrlimit(RLIMIT_CORE, &limit_before);
        for (int i = 0; i < crash_count; i++) sigaction(crashes[i], &actions_before[i], NULL);
    }
    is_forbidden = false;
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

static _Thread_local bool has_secret;

void guard_note_secret(void) { has_secret = true; }

bool guard_has_secret(void) { return has_secret; }

__attribute__((noinline)) static void wipe(void) {
    char used[192 * 1024];
    explicit_bzero(used, sizeof used);
    __asm__ volatile("" : : "r"(used) : "memory");
}

// Vector registers keep the data of the last memcpy or memchr, and the dynamic loader can save them to the stack later.
#if defined(__x86_64__)
__attribute__((noinline, target("avx512f"))) static void wipe_registers_512(void) {
    __asm__ volatile(
        "vpxord %%zmm16, %%zmm16, %%zmm16; vpxord %%zmm17, %%zmm17, %%zmm17; vpxord %%zmm18, %%zmm18, %%zmm18;"
        "vpxord %%zmm19, %%zmm19, %%zmm19; vpxord %%zmm20, %%zmm20, %%zmm20; vpxord %%zmm21, %%zmm21, %%zmm21;"
        "vpxord %%zmm22, %%zmm22, %%zmm22; vpxord %%zmm23, %%zmm23, %%zmm23; vpxord %%zmm24, %%zmm24, %%zmm24;"
        "vpxord %%zmm25, %%zmm25, %%zmm25; vpxord %%zmm26, %%zmm26, %%zmm26; vpxord %%zmm27, %%zmm27, %%zmm27;"
        "vpxord %%zmm28, %%zmm28, %%zmm28; vpxord %%zmm29, %%zmm29, %%zmm29; vpxord %%zmm30, %%zmm30, %%zmm30;"
        "vpxord %%zmm31, %%zmm31, %%zmm31" ::: "memory");
}

__attribute__((noinline, target("avx"))) static void wipe_registers_256(void) { __asm__ volatile("vzeroall" ::: "memory"); }

static void wipe_registers(void) {
    if (__builtin_cpu_supports("avx512f")) wipe_registers_512();
    if (__builtin_cpu_supports("avx")) wipe_registers_256();
}
#else
static void wipe_registers(void) {}
#endif

void guard_wipe_registers(void) { wipe_registers(); }

void guard_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

extern void zero_on_free_reserve(size_t bytes) __attribute__((weak));

void guard_reserve_heap(size_t bytes) {
    if (zero_on_free_reserve) zero_on_free_reserve(bytes);
}

void guard_wipe_stack(void) {
    if (!has_secret) return;
    has_secret = false;
    // Erase the registers first, because the code that follows can save them.
    wipe_registers();
    wipe();
}
