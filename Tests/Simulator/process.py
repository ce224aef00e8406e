"""A Mintmark process whose system calls on the store are sites: places at which a test pauses it, makes a call fail, or kills it."""

import collections
import ctypes
import json
import mmap
import os
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

# The order is that of `enum kind` in shim.c.
KINDS = ["open", "read", "write", "truncate", "sync", "lock", "unlock", "map", "unlink", "link", "sleep", "allocate", "receive", "send", "connect"]
SLEEP = ord("a") + KINDS.index("sleep")
# In a file system in memory, nothing waits for a disk. The synced bytes are known from the journal.
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
# A real time that no call needs: the process has stopped.
STUCK_SECONDS = 60


def binary():
    """Returns the path of the program under test: MINTMARK_BINARY, or the program of the last release build."""
    return os.environ.get("MINTMARK_BINARY") or os.path.join(ROOT, ".build", "release", "mintmark")


def shim():
    """Compiles shim.c, unless that has been done for its present text, and returns the path of the library."""
    source, library = os.path.join(HERE, "shim.c"), os.path.join(ROOT, ".build", "simulator", "shim.so")
    if not os.path.exists(library) or os.path.getmtime(library) < os.path.getmtime(source):
        os.makedirs(os.path.dirname(library), exist_ok=True)
        fresh = f"{library}.{os.getpid()}"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o", fresh, source], check=True)
        os.replace(fresh, library)
    return library


# The places of all processes that have ended, if SIMULATOR_COVERAGE is set: how often each of them was reached, and failed.
BLOCK, PLACES, PLACE = 4096, 16384, struct.Struct("=Q3q")
reached, failures = collections.Counter(), collections.Counter()

# Processes that were killed and have not ended yet.
ending = []


class Control(ctypes.Structure):
    """The control block. The layout is that of `struct control` in shim.c."""

    _fields_ = [(name, ctypes.c_int64) for name in (
        "armed", "sites", "pause_at", "fail_kinds", "fail_at", "fail_times", "fail_code", "matching", "failed", "exclusive")]
    _fields_ += [("counts", ctypes.c_int64 * 16)]


class Stuck(Exception):
    """The process neither answered nor reached a site."""


class Process:
    """One process. `state` is idle, running (which includes paused), or dead."""

    def __init__(self, store, *, journal=None, environment=None, options=(), program=None, pauses=True, failing=None, pause_at=0):
        self.folder = tempfile.mkdtemp(prefix="mintmark-", dir=MEMORY)
        path = os.path.join(self.folder, "control")
        with open(path, "w+b") as file:
            size = BLOCK + (PLACES * PLACE.size if os.environ.get("SIMULATOR_COVERAGE") else 0)
            file.truncate(size)
            self._memory = mmap.mmap(file.fileno(), size)
        self.control = Control.from_buffer(self._memory)
        if failing:
            self.fail(*failing)
        self.control.pause_at = pause_at
        self.control.armed = int(bool(failing or pause_at))
        self._events, events = os.pipe()
        go, self._go = os.pipe()
        variables = {
            "PATH": os.environ.get("PATH", ""), "HOME": self.folder, "TMPDIR": self.folder, "LD_PRELOAD": shim(), "SIMULATOR_CONTROL": path,
            "SIMULATOR_STORE": store, "SIMULATOR_MUTANT": os.environ.get("SIMULATOR_MUTANT", ""), **(environment or {})}
        if os.environ.get("SIMULATOR_COVERAGE"):
            variables["SIMULATOR_COVERAGE"] = "1"
        if journal:
            variables["SIMULATOR_JOURNAL"] = journal
        if pauses:
            variables.update(SIMULATOR_EVENTS=str(events), SIMULATOR_GO=str(go))
        self._errors = open(os.path.join(self.folder, "stderr"), "wb")
        self.process = subprocess.Popen(
            [program or binary(), "serve", "--store", store, "--testing", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
            stderr=self._errors, env=variables, pass_fds=(events, go))
        os.close(events)
        os.close(go)
        self._out = self.process.stdout.fileno()
        self._poll = select.poll()
        self._poll.register(self._out, select.POLLIN)
        self._poll.register(self._events, select.POLLIN)
        self._rest, self._id = b"", 0
        self.state, self.is_paused, self.sleeps = "idle", False, False

    # Calls in steps

    def begin(self, method, params, *, trace=None, armed=True, keep=False):
        """Prepares a request; `advance` sends it.

        Its sites are counted from this request, unless `keep` counts them from the start of the process."""
        self._id += 1
        message = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params, **({"trace": trace} if trace else {})}
        control = self.control
        if not keep:
            control.sites = control.pause_at = control.matching = control.failed = control.fail_kinds = 0
            control.fail_at = control.fail_times = control.fail_code = 0
            control.armed = int(armed)
        self.state, self._line = "running", json.dumps(message).encode() + b"\n"

    def fail(self, kinds, at, code, times=1):
        """Makes a site of these kinds fail: the one with the number `at`, counted from this call."""
        control = self.control
        control.fail_kinds = sum(1 << KINDS.index(kind) for kind in kinds)
        control.matching, control.fail_at, control.fail_times, control.fail_code = 0, at, times, code

    def advance(self, sites=None, keep=False):
        """Continues the call for a number of sites, or to its end. `keep` leaves the next pause where it is.

        Returns ("answer", message), ("paused", kind), ("sleep", kind) or ("ended", status)."""
        if not keep:
            self.control.pause_at = self.control.sites + sites if sites else 0
        if self._line:
            line, self._line = self._line, None
            try:
                self.process.stdin.write(line)
            except BrokenPipeError:
                return self._over()
        elif self.is_paused:
            self.is_paused = False
            os.write(self._go, b".")
        while True:
            # Waits in steps, so that the time for which all processes are frozen or suspended is not counted.
            ready = next((found for _ in range(STUCK_SECONDS) if (found := dict(self._poll.poll(1000)))), None)
            if not ready:
                raise Stuck(f"no answer within {STUCK_SECONDS} s; {self.words()}")
            if self._out in ready:
                block = os.read(self._out, 1 << 20)
                if not block:
                    return self._over()
                *lines, self._rest = (self._rest + block).split(b"\n")
                for line in lines:
                    message = json.loads(line)
                    if message.get("id") == self._id:
                        self.control.armed = 0
                        self._drain()
                        self.rest()
                        self.state = "idle"
                        return "answer", message
            elif self._events in ready:
                kind = os.read(self._events, 1)
                if not kind:
                    return self._over()
                self.is_paused = True
                return "sleep" if kind[0] == SLEEP else "paused", KINDS[kind[0] - ord("a")]

    def call(self, method, params=None, **envelope):
        """Runs a whole call, without faults. Returns its message; the members are `result` or `error`."""
        self.begin(method, params or {}, armed=False, **envelope)
        kind, found = self.advance()
        if kind != "answer":
            raise Stuck(f"{method}: {kind} {found}; {self.words()}")
        return found

    def _drain(self):
        """Continues a thread that paused after the answer."""
        while any(fd == self._events for fd, _ in self._poll.poll(0)):
            if not os.read(self._events, 64):
                self._poll.unregister(self._events)
                break
            os.write(self._go, b".")

    def rest(self):
        """Returns when all threads of the process wait: what a call leaves to other threads is then complete."""
        folder = f"/proc/{self.process.pid}/task"
        for _ in range(STUCK_SECONDS * 10_000):
            try:
                for task in os.listdir(folder):
                    with open(f"{folder}/{task}/stat", "rb") as file:
                        if file.read().rpartition(b")")[2].split()[0] not in (b"S", b"Z", b"X"):
                            break
                else:
                    return
            except (FileNotFoundError, ProcessLookupError):
                pass   # A thread has ended in the meantime.
            time.sleep(0.0001)

    @property
    def blocks_readers(self):
        """Whether the process is paused while it has a lock for which a reader would wait: any but the locks of a writer and a checkpoint."""
        return self.is_paused and self.control.exclusive & ~3 != 0

    # The end

    def _over(self):
        self.process.wait()
        self.state = "dead"
        return "ended", self.process.returncode

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.state = "dead"

    def words(self):
        """The end of what the process wrote to standard error."""
        self._errors.flush()
        with open(self._errors.name, encoding="utf-8", errors="replace") as file:
            return file.read()[-600:]

    def close(self):
        if not self.control:
            return
        if self.process.poll() is None:
            # The end of the process takes longer than the start of the next one, so it is not awaited.
            self.process.send_signal(signal.SIGKILL)
            ending.append(self.process)
        ending[:] = [each for each in ending if each.poll() is None]
        for each in (self.process.stdin, self.process.stdout, self._errors):
            each.close()
        os.close(self._events)
        os.close(self._go)
        self.control = None
        self._keep_places()
        self._memory.close()
        shutil.rmtree(self.folder, ignore_errors=True)


    def _keep_places(self):
        for hash, kind, seen, failed in PLACE.iter_unpack(self._memory[BLOCK:]):
            if hash:
                reached[KINDS[kind], hash] += seen
                failures[KINDS[kind], hash] += failed


def coverage(kinds):
    """Returns, for each kind of site, the number of places that were reached and the number of those that failed at least once."""
    return {kind: (sum(key[0] == kind for key in reached), sum(key[0] == kind and count > 0 for key, count in failures.items())) for kind in kinds}


# The journal of the store's files

RECORD = struct.Struct("=5q")
WRITTEN, TRUNCATED, SYNCED = range(3)
SECTOR = 512
SUFFIXES = {1: "", 2: "-wal"}


def changes(journal):
    """Returns the changes that were not synced, for each file: (kind, offset, length, old size, old bytes, new bytes)."""
    pending = {1: [], 2: []}
    try:
        with open(journal, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return pending
    at = 0
    while at < len(data):
        kind, file, offset, length, size = RECORD.unpack_from(data, at)
        at += RECORD.size
        if kind == SYNCED:
            pending[file] = []
            continue
        old, at = data[at:at + length], at + length
        new = b""
        if kind == WRITTEN:
            new, at = data[at:at + length], at + length
        pending[file].append((kind, offset, length, size, old, new))
    return pending


def cut_power(store, journal, random):
    """Changes the files of a store, which no process has open, to what a disk can contain after a power failure: what was synced, and any
    part of the sectors that were not. Returns the number of changes that were lost, at least in part."""
    lost = 0
    for file, pending in changes(journal).items():
        path = store + SUFFIXES[file]
        if not pending or not os.path.exists(path):
            continue
        with open(path, "r+b") as disk:
            for _, offset, _, size, old, _ in reversed(pending):
                os.pwrite(disk.fileno(), old, offset)
                disk.truncate(size)
            kept = random.choice([0, 0.3, 0.7, 0.95])
            for kind, offset, length, size, old, new in pending:
                if kind == TRUNCATED:
                    if random.random() < kept:
                        disk.truncate(offset)
                    else:
                        lost += 1
                    continue
                whole = True
                for start in range(0, length, SECTOR):
                    if random.random() < kept:
                        os.pwrite(disk.fileno(), new[start:start + SECTOR], offset + start)
                    else:
                        whole = False
                lost += not whole
    for path in (store + "-shm", journal):
        if os.path.exists(path):
            os.unlink(path)
    return lost
