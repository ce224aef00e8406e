// Makes the system calls of a process on its store, its allocations in SQLite and its network reads into sites that a test controls.
//
// Loaded with LD_PRELOAD. A control block in shared memory arms the sites. An armed process counts each site; at a chosen site it pauses
// until the test continues or kills it, and a chosen site fails. While the process is not armed, nothing is counted and nothing fails.
//
// SIMULATOR_CONTROL   file of the control block
// SIMULATOR_STORE     path of the store; the sites are the calls on this file, its log, its shared memory, a new file before it has the
//                     name of the store, and the directory
// SIMULATOR_JOURNAL   file to which every change of the store's files is appended, so that a power failure can undo what was not synced
// SIMULATOR_EVENTS    descriptor to which one byte, the kind of the site, is written at a pause
// SIMULATOR_GO        descriptor from which one byte is read to continue
// SIMULATOR_LIAR      set if syncs succeed without taking place
// SIMULATOR_COVERAGE  set if each place in the program, with the functions that called it, is counted after the control block
// SIMULATOR_NAMED     set if the file system has no unnamed files (O_TMPFILE)
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

// The order is that of KINDS in process.py.
enum kind { OPEN, READ, WRITE, TRUNCATE, SYNC, LOCK, UNLOCK, MAP, UNLINK, LINK, SLEEP, ALLOCATE, RECEIVE, SEND, CONNECT, KINDS };

// The layout is that of Control in process.py.
struct control {
    int64_t armed;          // whether sites are counted
    int64_t sites;          // the number of sites at which the process can pause
    int64_t pause_at;       // the number of the site at which it pauses; 0 for none
    int64_t fail_kinds;     // a bit for each kind that can fail
    int64_t fail_at;        // the number of the site, among those of these kinds, that fails; 0 for none
    int64_t fail_times;     // the number of consecutive sites that fail
    int64_t fail_code;      // the error number; with a negative number, half of a write happens first
    int64_t matching;       // the number of sites of these kinds
    int64_t failed;         // the number of sites that failed
    int64_t exclusive;      // a bit for each lock of the log's index that this process holds exclusively
    int64_t counts[16];     // the number of sites of each kind
};

// A place: the kind of the site and the innermost functions on the stack. The layout is that of PLACE in process.py.
struct place { uint64_t hash; int64_t kind, seen, failed; };
enum { BLOCK = 4096, PLACES = 16384, FRAMES = 8, OWN_FRAMES = 3 };

static struct control idle, *control = &idle;
static struct place *places;
static char store[4096];
static size_t store_length;
static int events = -1, go = -1, journal = -1, lies, named;
// The file of each descriptor: 0 for anything else, a number of SUFFIXES in process.py, whose files are in the journal, or one of these.
enum { SHARED_MEMORY = 3, DRAFT, FOLDER };
static volatile unsigned char files[4096];

#define REAL(name) ((__typeof__(&name))real(#name, &real_##name))
#define DECLARE(name) static void *real_##name
DECLARE(open); DECLARE(open64); DECLARE(close);
DECLARE(pread64); DECLARE(pwrite64); DECLARE(ftruncate64); DECLARE(fsync); DECLARE(fdatasync);
DECLARE(fcntl64); DECLARE(mmap64); DECLARE(unlink);
DECLARE(link); DECLARE(linkat); DECLARE(usleep); DECLARE(recv); DECLARE(send); DECLARE(connect);

static void *real(const char *name, void **place) {
    if (!*place) *place = dlsym(RTLD_NEXT, name);
    return *place;
}

static long number(const char *name) {
    const char *text = getenv(name);
    return text ? atol(text) : -1;
}

static void pause_here(enum kind kind) {
    char byte = (char)('a' + kind);
    if (write(events, &byte, 1) != 1) return;
    // A process that is no longer armed continues by itself.
    while (control->armed) {
        struct pollfd wait = {.fd = go, .events = POLLIN};
        if (poll(&wait, 1, 20) > 0) {
            if (read(go, &byte, 1) == 1) return;
            _exit(99);   // the test has ended
        }
    }
}

// Counts the place of a site. The hash has the offsets in the program and its libraries, so it is the same in every process.
static void count_place(enum kind kind, int64_t failed) {
    void *frames[OWN_FRAMES + FRAMES];
    int count = backtrace(frames, OWN_FRAMES + FRAMES);
    uint64_t hash = 14695981039346656037u ^ (uint64_t)kind;
    for (int index = OWN_FRAMES; index < count; index++) {
        Dl_info found;
        uint64_t offset = dladdr(frames[index], &found) ? (uint64_t)((char *)frames[index] - (char *)found.dli_fbase) : 0;
        hash = (hash ^ offset) * 1099511628211u;
    }
    if (!hash) hash = 1;
    for (uint64_t at = (hash >> 20) % PLACES, tries = 0; tries < PLACES; at = (at + 1) % PLACES, tries++) {
        uint64_t empty = 0;
        if (!__atomic_compare_exchange_n(&places[at].hash, &empty, hash, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) && empty != hash) continue;
        places[at].kind = kind;
        __atomic_add_fetch(&places[at].seen, 1, __ATOMIC_SEQ_CST);
        __atomic_add_fetch(&places[at].failed, failed, __ATOMIC_SEQ_CST);
        return;
    }
}

static int64_t judge(enum kind kind);

// Returns the error with which the site fails, or 0.
static __attribute__((noinline)) int64_t site(enum kind kind) {
    if (!control->armed) return 0;
    int64_t code = judge(kind);
    int saved = errno;
    if (places) count_place(kind, code != 0);
    errno = saved;
    return code;
}

static int64_t judge(enum kind kind) {
    int saved = errno;
    __atomic_add_fetch(&control->counts[kind], 1, __ATOMIC_SEQ_CST);
    if (kind < ALLOCATE) {
        int64_t place = __atomic_add_fetch(&control->sites, 1, __ATOMIC_SEQ_CST);
        if (events >= 0 && (place == control->pause_at || kind == SLEEP)) pause_here(kind);
    }
    errno = saved;
    if (!(control->fail_kinds >> kind & 1)) return 0;
    int64_t matching = __atomic_add_fetch(&control->matching, 1, __ATOMIC_SEQ_CST);
    if (!control->fail_at || matching < control->fail_at || matching >= control->fail_at + control->fail_times) return 0;
    __atomic_add_fetch(&control->failed, 1, __ATOMIC_SEQ_CST);
    return control->fail_code;
}

// Returns whether the site fails, and sets errno.
static int fails(enum kind kind) {
    int64_t code = site(kind);
    if (code) errno = (int)(code < 0 ? -code : code);
    return code != 0;
}

static int file_of(const char *path) {
    if (!store_length || strncmp(path, store, store_length)) return 0;
    const char *rest = path + store_length;
    size_t length = strlen(rest);
    if (length > 5 && !strcmp(rest + length - 5, ".part")) return DRAFT;
    return !*rest ? 1 : !strcmp(rest, "-wal") ? 2 : !strcmp(rest, "-shm") ? SHARED_MEMORY : 0;
}

static int is_folder(const char *path) {
    const char *slash = store_length ? strrchr(store, '/') : NULL;
    return slash && !strncmp(path, store, (size_t)(slash - store) + 1) && !path[slash - store + 1];
}

static int file_at(int descriptor) {
    return descriptor >= 0 && descriptor < (int)sizeof files ? files[descriptor] : 0;
}

// The journal. A record is followed by the old bytes, and for a write by the new ones.
enum change { WRITTEN, TRUNCATED, SYNCED };
struct record { int64_t change, file, offset, length, old_size; };

static void note(struct record record, const void *old, const void *new) {
    struct iovec parts[] = {
        {&record, sizeof record}, {(void *)old, old ? (size_t)record.length : 0}, {(void *)new, new ? (size_t)record.length : 0}};
    if (writev(journal, parts, 3) < 0) abort();
}

static char *old_bytes(int descriptor, int64_t offset, int64_t length, int64_t *size) {
    struct stat status;
    if (fstat(descriptor, &status) || length < 0) abort();
    *size = status.st_size;
    char *bytes = calloc(1, length ? (size_t)length : 1);
    if (!bytes || REAL(pread64)(descriptor, bytes, (size_t)length, offset) < 0) abort();
    return bytes;
}

// Allocations of SQLite.
struct methods { void *(*allocate)(int); void (*release)(void *); void *(*resize)(void *, int); void *rest[5]; };
static struct methods own, standard;
static void *allocate(int size) { return site(ALLOCATE) ? NULL : standard.allocate(size); }
static void *resize(void *old, int size) { return site(ALLOCATE) ? NULL : standard.resize(old, size); }

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("SIMULATOR_CONTROL");
    if (!path) return;
    int file = REAL(open)(path, O_RDWR | O_CLOEXEC);
    if (file < 0) abort();
    control = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (control == MAP_FAILED) abort();
    if (getenv("SIMULATOR_COVERAGE")) {
        places = mmap(NULL, PLACES * sizeof *places, PROT_READ | PROT_WRITE, MAP_SHARED, file, BLOCK);
        if (places == MAP_FAILED) abort();
        void *frame;
        backtrace(&frame, 1);   // The first call loads a library.
    }
    close(file);
    if (getenv("SIMULATOR_STORE")) store_length = strlen(strncpy(store, getenv("SIMULATOR_STORE"), sizeof store - 1));
    if (getenv("SIMULATOR_JOURNAL")) journal = REAL(open)(getenv("SIMULATOR_JOURNAL"), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    lies = getenv("SIMULATOR_LIAR") != NULL, named = getenv("SIMULATOR_NAMED") != NULL;
    events = (int)number("SIMULATOR_EVENTS"), go = (int)number("SIMULATOR_GO");
    int (*configure)(int, ...) = (int (*)(int, ...))dlsym(RTLD_DEFAULT, "sqlite3_config");
    // 5 reads the allocation functions of SQLite, 4 sets them.
    if (configure && !configure(5, &standard)) {
        own = standard, own.allocate = allocate, own.resize = resize;
        configure(4, &own);
    }
    unsetenv("LD_PRELOAD");
}

static int opened(const char *path, int flags, int mode, int (*open)(const char *, int, ...)) {
    int unnamed = (flags & O_TMPFILE) == O_TMPFILE;
    int file = !(flags & O_DIRECTORY) ? file_of(path) : !is_folder(path) ? 0 : unnamed ? DRAFT : FOLDER;
    if (file && fails(OPEN)) return -1;
    if (unnamed && named) {
        errno = EOPNOTSUPP;
        return -1;
    }
    int descriptor = open(path, flags, mode);
    if (descriptor >= 0 && descriptor < (int)sizeof files) files[descriptor] = (unsigned char)file;
    return descriptor;
}

#define MODE_OF(flags) ({ \
    va_list rest; \
    va_start(rest, flags); \
    int mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, int) : 0; \
    va_end(rest); \
    mode; })
int open(const char *path, int flags, ...) { return opened(path, flags, MODE_OF(flags), REAL(open)); }
int open64(const char *path, int flags, ...) { return opened(path, flags, MODE_OF(flags), REAL(open64)); }

int close(int descriptor) {
    if (descriptor >= 0 && descriptor < (int)sizeof files) files[descriptor] = 0;
    return REAL(close)(descriptor);
}

ssize_t pread64(int descriptor, void *bytes, size_t count, off64_t offset) {
    if (file_at(descriptor) && fails(READ)) return -1;
    return REAL(pread64)(descriptor, bytes, count, offset);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
    int file = file_at(descriptor);
    if (!file) return REAL(pwrite64)(descriptor, bytes, count, offset);
    int64_t code = site(WRITE);
    if (code > 0) {
        errno = (int)code;
        return -1;
    }
    if (code < 0) count /= 2;
    if (file >= SHARED_MEMORY || journal < 0) return REAL(pwrite64)(descriptor, bytes, count, offset);
    int64_t size;
    char *old = old_bytes(descriptor, offset, (int64_t)count, &size);
    ssize_t written = REAL(pwrite64)(descriptor, bytes, count, offset);
    if (written != (ssize_t)count) abort();
    note((struct record){WRITTEN, file, offset, written, size}, old, bytes);
    free(old);
    return written;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) { return pwrite64(descriptor, bytes, count, offset); }

int ftruncate64(int descriptor, off64_t length) {
    int file = file_at(descriptor);
    if (file && fails(TRUNCATE)) return -1;
    if (!file || file >= SHARED_MEMORY || journal < 0) return REAL(ftruncate64)(descriptor, length);
    struct stat status;
    if (fstat(descriptor, &status)) abort();
    int64_t size, cut = status.st_size > length ? status.st_size - length : 0;
    char *old = old_bytes(descriptor, length, cut, &size);
    int result = REAL(ftruncate64)(descriptor, length);
    if (result == 0) note((struct record){TRUNCATED, file, length, cut, size}, old, NULL);
    free(old);
    return result;
}

static int synced(int descriptor, int (*sync)(int)) {
    int file = file_at(descriptor);
    if (!file) return sync(descriptor);
    if (fails(SYNC)) return -1;
    if (lies) return 0;
    if (file >= SHARED_MEMORY || journal < 0) return sync(descriptor);
    note((struct record){SYNCED, file, 0, 0, 0}, NULL, NULL);
    return 0;
}

int fsync(int descriptor) { return synced(descriptor, REAL(fsync)); }
int fdatasync(int descriptor) { return synced(descriptor, REAL(fdatasync)); }

int fcntl64(int descriptor, int command, ...) {
    va_list rest;
    va_start(rest, command);
    void *argument = va_arg(rest, void *);
    va_end(rest);
    if (command == F_SETLK && file_at(descriptor)) {
        struct flock *lock = argument;
        if (lock->l_type == F_UNLCK) site(UNLOCK);
        else if (fails(LOCK)) return -1;
        int result = REAL(fcntl64)(descriptor, command, argument);
        // Byte 120 is the first lock in the shared memory of the log.
        for (off_t place = lock->l_start; result == 0 && file_at(descriptor) == SHARED_MEMORY && place < lock->l_start + lock->l_len; place++) {
            if (place < 120 || place > 128) continue;
            int64_t bit = (int64_t)1 << (place - 120);
            if (lock->l_type == F_WRLCK) __atomic_or_fetch(&control->exclusive, bit, __ATOMIC_SEQ_CST);
            else __atomic_and_fetch(&control->exclusive, ~bit, __ATOMIC_SEQ_CST);
        }
        return result;
    }
    return REAL(fcntl64)(descriptor, command, argument);
}

void *mmap64(void *address, size_t length, int protection, int flags, int descriptor, off64_t offset) {
    if (file_at(descriptor) && fails(MAP)) return MAP_FAILED;
    return REAL(mmap64)(address, length, protection, flags, descriptor, offset);
}

int unlink(const char *path) {
    if (file_of(path) && fails(UNLINK)) return -1;
    return REAL(unlink)(path);
}

int link(const char *from, const char *to) {
    if (file_of(to) && fails(LINK)) return -1;
    return REAL(link)(from, to);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
    if (file_of(to) && fails(LINK)) return -1;
    return REAL(linkat)(from_folder, from, to_folder, to, flags);
}

// SQLite sleeps while another process has a lock. Time passes only in the order of the calls, so an armed process does not sleep.
int usleep(useconds_t microseconds) {
    if (!control->armed || events < 0) return REAL(usleep)(microseconds);
    site(SLEEP);
    return 0;
}

ssize_t recv(int descriptor, void *bytes, size_t count, int flags) {
    int64_t code = site(RECEIVE);
    if (code < 0) return 0;   // the other side has closed the connection
    if (code > 0) {
        shutdown(descriptor, SHUT_RDWR);
        errno = (int)code;
        return -1;
    }
    return REAL(recv)(descriptor, bytes, count, flags);
}

ssize_t send(int descriptor, const void *bytes, size_t count, int flags) {
    if (fails(SEND)) {
        shutdown(descriptor, SHUT_RDWR);
        return -1;
    }
    return REAL(send)(descriptor, bytes, count, flags);
}

int connect(int descriptor, const struct sockaddr *address, socklen_t length) {
    if (fails(CONNECT)) return -1;
    return REAL(connect)(descriptor, address, length);
}
