"""Runs a Mintmark process and communicates over its pipe, as a host program does. Uses the standard library only."""

import array
import fcntl
import itertools
import json
import os
import shutil
import signal
import subprocess
import tempfile
import termios
import threading
import time

from checker import Checker, ContractViolation

# The length of a long line, in bytes, and how many of them are checked for each process.
LONG_LINE, CHECKED_LONG_LINES = 1 << 16, 10

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


def binary():
    """Returns the path of the binary under test: MINTMARK_BINARY, or the binary of the last release build."""
    named = os.environ.get("MINTMARK_BINARY")
    return named or os.path.join(ROOT, ".build", "release", "mintmark")


class RpcError(Exception):
    """An error response. `type` is its stable name, `data` contains its typed details."""

    def __init__(self, error):
        super().__init__(json.dumps(error, ensure_ascii=False)[:600])
        self.code = error["code"]
        self.message = error["message"]
        self.data = error.get("data") or {}
        self.type = self.data.get("type")


class Ended(Exception):
    """The process ended before it responded."""


class Sidecar:
    """Starts `mintmark serve` and communicates with it from any number of threads. Unless `reading` is false, another thread reads the responses so
    that the pipe never fills.

    Every message is checked against the schemas when it is removed from the inbox, or at the latest when the process is closed.
    A message that does not match raises `ContractViolation`. Messages of another `program` are not checked by default."""

    def __init__(
            self, *options, store=":memory:", testing=False, environment=None, reading=True, stderr=None, program=None, checked=None,
            **spawn):
        self.home = tempfile.mkdtemp(prefix="mintmark-")
        self.command = [program or binary(), "serve", "--store", store] + (["--testing"] if testing else []) + list(options)
        self.environment = clean_environment(self.home, environment)
        self._stderr = open(os.path.join(self.home, "stderr"), "wb") if stderr is None else None
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, env=self.environment,
            stderr=self._stderr if stderr is None else stderr, **spawn)
        self._numbers = itertools.count(1)
        self._writing = threading.Lock()
        self._inbox = []
        self._taken = 0   # The number of messages removed from the inbox.
        self._changed = threading.Condition()
        self._reading = self._ended = False
        self._checker = Checker() if checked or checked is None and not program else None
        self._checking = threading.Lock()
        self._long_lines = 0
        self._hidden = []   # The violations that were raised in another thread than the main thread, where a test can miss them.
        if reading:
            self.start_reading()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            self.close()
        except ContractViolation:
            if not kind:   # Otherwise the first problem of the test matters more.
                raise

    # Writing

    def write(self, data):
        """Writes all of the bytes unchanged."""
        if self._checker:
            with self._checking:
                self._checker.writes(data)
        self._write(data)

    def _write(self, data):
        view = memoryview(data)
        with self._writing:
            while view:
                view = view[os.write(self.process.stdin.fileno(), view):]

    def send(self, method, params=None, **envelope):
        """Writes one request and returns its ID."""
        envelope = {"id": next(self._numbers), **envelope}
        line = request_line(method, params, **envelope)
        if self._checker:
            with self._checking:
                self._checker.sends(envelope["id"], method, params, envelope.get("progressToken"))
        self._write(line)
        return envelope["id"]

    # Reading

    def start_reading(self):
        self._reading = True
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        begun = []   # The parts of the line that is not complete.
        while True:
            try:
                block = os.read(self.process.stdout.fileno(), 1 << 20)
            except (OSError, ValueError):
                block = b""
            *lines, rest = block.split(b"\n")
            if lines:
                lines[0], begun = b"".join([*begun, lines[0]]), []
            begun.append(rest)
            with self._changed:
                self._inbox += lines
                self._ended = not block
                self._changed.notify_all()
            if not block:
                return

    def receive(self, accept=lambda message: True, timeout=180):
        """Returns the next message that `accept` selects. Other messages stay in the inbox for later calls."""
        deadline = time.monotonic() + timeout
        with self._changed:
            seen = taken = 0
            while True:
                late = time.monotonic() >= deadline
                if self._taken != taken:   # Another thread removed a message, so the indexes have changed.
                    seen, taken = 0, self._taken
                for index in range(seen, len(self._inbox)):
                    if isinstance(self._inbox[index], bytes):
                        self._inbox[index] = parse_answer(self._inbox[index])
                    if accept(self._inbox[index]):
                        self._taken += 1
                        return self._checked(self._inbox.pop(index))
                seen = len(self._inbox)
                if self._ended:
                    raise Ended(f"the process ended; its last words: {self.stderr_text()[-400:]!r}")
                if late:
                    raise TimeoutError(f"no answer within {timeout} s; its last words: {self.stderr_text()[-400:]!r}")
                self._changed.wait(max(0, deadline - time.monotonic()))

    def arrived(self):
        """Returns the number of messages in the inbox."""
        with self._changed:
            return len(self._inbox)

    def lines(self, count, timeout=180):
        """Waits until `count` responses have arrived or the process has ended. Removes all messages from the inbox and returns them as raw lines."""
        deadline = time.monotonic() + timeout
        with self._changed:
            while len(self._inbox) < count and not self._ended:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise TimeoutError(f"{len(self._inbox)} of {count} answers within {timeout} s")
                self._changed.wait(left)
            taken, self._inbox = self._inbox, []
            self._taken += len(taken)
        for message in taken:
            self._checked(message)
        return taken

    def remaining(self):
        """Returns all messages until the process closes its output, parsed."""
        return [parse_answer(line) for line in self.lines(1 << 60)]

    # Checking

    def _checked(self, message):
        """Returns a message, parsed or as a line, after its check.

        If a test takes long lines without parsing them, only the first ones are checked."""
        if not self._checker:
            return message
        if isinstance(message, bytes) and len(message) > LONG_LINE:
            self._long_lines += 1
            if self._long_lines > CHECKED_LONG_LINES:
                return message
        try:
            parsed = json.loads(message) if isinstance(message, bytes) else message
        except ValueError:
            return message   # Tests that take lines parse them.
        try:
            with self._checking:
                self._checker.check(parsed)
        except ContractViolation as violation:
            if threading.current_thread() is not threading.main_thread():
                self._hidden.append(violation)
            raise
        return message

    # Calls

    def answer(self, id, timeout=180):
        """Returns the result for a request ID, or raises `RpcError`."""
        message = self.receive(lambda m: isinstance(m, dict) and m.get("id") == id and ("result" in m or "error" in m), timeout)
        if "error" in message:
            raise RpcError(message["error"])
        return message["result"]

    def call(self, method, params=None, timeout=180, **envelope):
        return self.answer(self.send(method, params, **envelope), timeout)

    def refusal(self, method, params=None, **envelope):
        """Returns the error with which a request must fail."""
        try:
            result = self.call(method, params, **envelope)
        except RpcError as error:
            return error
        raise AssertionError(f"{method} accepted what it must refuse: {json.dumps(params)[:300]} -> {json.dumps(result)[:300]}")

    def raw(self, line, timeout=180):
        """Writes one line of bytes and returns the next message of any kind."""
        self.write(line + b"\n")
        return self.receive(timeout=timeout)

    # Shutdown

    def end_input(self):
        try:
            self.process.stdin.close()
        except OSError:
            pass

    def wait(self, timeout=180):
        return self.process.wait(timeout)

    def finish(self, timeout=180):
        """Closes the input, waits for the process and returns the exit status."""
        self.end_input()
        return self.wait(timeout)

    def signal(self, number=signal.SIGTERM):
        self.process.send_signal(number)

    def close(self):
        """Ends the process in any state, removes its folder, and checks the messages that no test has received."""
        self.end_input()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self._stderr:
            self._stderr.close()
        shutil.rmtree(self.home, ignore_errors=True)
        with self._changed:
            self._changed.wait_for(lambda: self._ended or not self._reading, 1)
            left, self._inbox = self._inbox, []
            self._taken += len(left)
        hidden, self._hidden = self._hidden, []
        for violation in hidden:
            raise violation
        for message in left:
            self._checked(message)

    # Inspection

    def stderr_text(self):
        try:
            with open(os.path.join(self.home, "stderr"), encoding="utf-8", errors="replace") as file:
                return file.read()
        except OSError:
            return ""

    def processor_seconds(self):
        """Returns the CPU time of the process so far, in seconds, with a resolution of 0.01."""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
            user, system = file.read().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def activity(self):
        """Returns a value that changes when a thread of the process runs, or `None` if one runs now or the process has input to read."""
        return None if unread(self.process.stdin) else activity(self.process.pid)

    def memory_kilobytes(self):
        """Returns the resident memory of the process."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))


def activity(pid):
    """Returns a value that changes when a thread of the process runs, or `None` if one runs now."""
    threads = {}
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{thread}/status", encoding="ascii") as file:
                found = dict(line.rstrip().split(":\t", 1) for line in file if line.startswith(("State:", "voluntary", "nonvoluntary")))
        except OSError:
            return None   # The thread has just ended.
        if not found["State"].startswith("S"):
            return None
        threads[thread] = found["voluntary_ctxt_switches"], found["nonvoluntary_ctxt_switches"]
    return threads


def rested(pid, timeout=60):
    """Waits until no thread of the process runs."""
    deadline = time.monotonic() + timeout
    while (before := activity(pid)) is None or before != activity(pid):
        if time.monotonic() > deadline:
            raise TimeoutError("the process does not come to rest")
        time.sleep(0.01)


def unread(pipe):
    """Returns the number of bytes in a pipe."""
    count = array.array("i", [0])
    fcntl.ioctl(pipe.fileno(), termios.FIONREAD, count)
    return count[0]


def clean_environment(home, extra=None):
    """Returns the environment of this process without MINTMARK_ variables and with `home` as the home folder. A value of `None` removes a
    variable."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MINTMARK_")}
    kept.update(HOME=home, XDG_DATA_HOME=home, TMPDIR=home)
    for name, value in (extra or {}).items():
        kept.pop(name, None)
        if value is not None:
            kept[name] = value
    return kept


def request_line(method, params=None, **envelope):
    """Returns a request as a line of bytes. `id=...` and `trace=...` are envelope members. A request without an ID is a notification."""
    message = {"jsonrpc": "2.0", **envelope, "method": method}
    if params is not None:
        message["params"] = params
    return json.dumps(message, ensure_ascii=False).encode() + b"\n"


def unique(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("duplicate members")
    return members


def refuse(constant):
    raise ValueError(f"{constant} is not JSON")


STRICT = json.JSONDecoder(object_pairs_hook=unique, parse_constant=refuse)


def parse_answer(line):
    """Parses a response as a strict host does: standard JSON, without duplicate members and NaN."""
    try:
        return STRICT.decode(line.decode())
    except ValueError as error:
        raise AssertionError(f"not JSON on standard output: {line[:200]!r} ({error})") from None


def run(*arguments, input=b"", environment=None, timeout=180, home=None, **options):
    """Runs `mintmark ARGUMENTS` until it exits. Returns the completed process."""
    own = home or tempfile.mkdtemp(prefix="mintmark-")
    try:
        return subprocess.run(
            [binary(), *arguments], input=input, capture_output=True, timeout=timeout,
            env=clean_environment(own, environment), **options)
    finally:
        if not home:
            shutil.rmtree(own, ignore_errors=True)
