"""A process for threads: a thread reads its responses and passes each to the waiting call."""

import contextlib
import math
import os
import queue
import signal
import subprocess
import threading
import time
from typing import Any, Callable, Dict, List, Mapping, Optional

from ._errors import BinaryNotFoundError, ProcessEndedError, MintmarkError
from ._fork import abandon_after_fork
from ._hooks import Hook, answer_in_thread
from ._outbox import Outbox
from ._settings import again, lost, no_mintmark, too_old
from ._stderr import Destination, StandardError
from ._wire import INFO_ID, INFO_LINE, Garbage, Lines, old_version, progress_token

# The default time limit for the exit of a process, in seconds.
GRACE = 5.0

# The time limit for a process that never responded and for which no call waits, in seconds.
SILENCE = 1.0


def signal_group(pid: int, number: int) -> None:
    """Signals a process that has not been reaped.

    Also signals its children, such as the program of a wrapper script, because they would hold the pipes open.
    """
    with contextlib.suppress(OSError):
        os.killpg(pid, number)


class Pending:
    """A call that waits for its response."""

    __slots__ = ("_done", "answer", "failure")

    def __init__(self) -> None:
        self._done = threading.Lock()
        self._done.acquire()
        self.answer: Optional[Dict[str, Any]] = None
        self.failure: Optional[MintmarkError] = None

    def resolve(self, answer: Optional[Dict[str, Any]], failure: Optional[MintmarkError] = None) -> None:
        self.answer, self.failure = answer, failure
        self._done.release()

    def wait(self, seconds: Optional[float]) -> bool:
        """Waits. Returns whether the response, or the end of the process, arrived in time."""
        deadline = math.inf if seconds is None else time.monotonic() + seconds
        while True:
            # Waits at most one second at a time: a signal that arrives just before the wait begins is handled only after it.
            if self._done.acquire(timeout=max(min(1, deadline - time.monotonic()), 0)):
                return True
            if time.monotonic() >= deadline:
                return False


class Listening(Pending):
    """A call with a progress callback, which runs in the waiting thread."""

    __slots__ = ("_told", "_progress")

    def __init__(self, progress: Callable[[Any], Any]) -> None:
        super().__init__()
        self._progress = progress
        self._told: "queue.SimpleQueue[List[Any]]" = queue.SimpleQueue()

    def tell(self, value: Any) -> None:
        self._told.put([value])

    def resolve(self, answer: Optional[Dict[str, Any]], failure: Optional[MintmarkError] = None) -> None:
        self.answer, self.failure = answer, failure
        self._told.put([])

    def wait(self, seconds: Optional[float]) -> bool:
        deadline = math.inf if seconds is None else time.monotonic() + seconds
        while True:
            try:
                told = self._told.get(timeout=max(min(1, deadline - time.monotonic()), 0))
            except queue.Empty:
                if time.monotonic() >= deadline:
                    return False
                continue
            if not told:
                return True
            # A wait of zero seconds only checks for the response and does not deliver progress.
            if seconds != 0:
                self._progress(told[0])
                if time.monotonic() >= deadline:
                    return False


class Process:
    """A `mintmark serve` process and its pipes."""

    def __init__(
        self,
        command: List[str],
        environment: Mapping[str, str],
        stderr: Destination,
        notify: Callable[[str, Any], None],
        hooks: Mapping[str, Hook],
    ) -> None:
        self._binary = command[0]
        self._hooks = hooks
        self._notify = notify
        self._lock = threading.Lock()
        self._pending: Dict[int, Pending] = {}
        self._end: Optional[MintmarkError] = None
        self._is_no_mintmark: Optional[MintmarkError] = None
        self._has_answered = False
        self._stderr = StandardError(stderr)
        try:
            # A separate session, so that Ctrl-C and hang-ups reach only this program, which then closes the pipe.
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr.writing, env=dict(environment),
                bufsize=0, start_new_session=True,
            )
        except OSError as error:
            raise BinaryNotFoundError(
                f"{self._binary} cannot be run: {error.strerror}. Set another path with binary= or MINTMARK_BINARY.") from error
        finally:
            self._stderr.start()
        assert self._process.stdin is not None and self._process.stdout is not None
        self._stdout = self._process.stdout
        # The outbox has its own descriptor, which no other object closes.
        self._outbox = Outbox(os.dup(self._process.stdin.fileno()))
        self._process.stdin.close()
        try:
            self._outbox.send(INFO_LINE)
        except OSError:
            pass  # It has already ended; calls report the reason.
        self._reader = threading.Thread(target=self._read, name="mintmark-reader", daemon=True)
        self._reader.start()
        abandon_after_fork(self)

    @property
    def ended(self) -> Optional[MintmarkError]:
        """Returns the reason the process has ended, or `None` while it runs."""
        return self._end

    def wait_for_end(self) -> None:
        """Waits for the end of the process after its pipe broke, so that `ended` returns the reason."""
        self._reader.join(3 * GRACE)

    def how_it_ended(self) -> MintmarkError:
        """Returns a new exception for a call that failed because the process has ended."""
        return lost(self._binary, None, None) if self._end is None else again(self._end)

    # Calls

    def send(self, id: int, line: bytes, progress: Optional[Callable[[Any], Any]] = None) -> Pending:
        """Sends a request. Raises `BrokenPipeError` if it did not reach the process."""
        pending = Pending() if progress is None else Listening(progress)
        with self._lock:
            if self._end is not None:
                raise BrokenPipeError
            self._pending[id] = pending
        try:
            self._outbox.send(line)
        except OSError:
            self._forget(id)
            raise BrokenPipeError from None
        return pending

    def cancel(self, id: int, line: bytes) -> None:
        """Stops waiting for a response and sends a cancellation."""
        self._forget(id)
        try:
            self._outbox.send(line)
        except OSError:
            pass

    def _forget(self, id: int) -> None:
        with self._lock:
            self._pending.pop(id, None)

    # Reading

    def _read(self) -> None:
        lines = Lines()
        try:
            while True:
                try:
                    block = os.read(self._stdout.fileno(), 1 << 16)
                except (OSError, ValueError):
                    break
                if not block:
                    break
                try:
                    for message in lines.messages(block):
                        self._take(message)
                except Garbage as line:
                    self._is_no_mintmark = no_mintmark(self._binary, str(line))
                if self._is_no_mintmark is not None:
                    self._signal(signal.SIGKILL)
                    break
        finally:
            # Runs after every failure, so that no call waits forever.
            self._finish()

    def _take(self, message: Dict[str, Any]) -> None:
        method = message.get("method")
        if isinstance(method, str):
            if "id" in message:
                answer_in_thread(self._hooks, message, self._outbox.send)
                return
            params: Any = message.get("params")
            listening = self._pending.get(progress_token(method, params))
            if isinstance(listening, Listening):
                listening.tell(params.get("value"))
            else:
                self._notify(method, params)
            return
        self._has_answered = True
        id = message.get("id")
        if id == INFO_ID:
            version = old_version(message)
            if version is not None:
                self._is_no_mintmark = too_old(self._binary, version)
            return
        # Ignore responses of a program that is too old, and IDs that this client does not use: `True` equals 1 but is not an ID.
        if self._is_no_mintmark is not None or not (id is None or type(id) is int):
            return
        with self._lock:
            if message.get("error") is None or id is not None:
                waiting = [] if id is None else [self._pending.pop(id, None)]
            else:
                # The process could not parse a line, so the error has no ID. The client does not send such lines, so every waiting call
                # fails.
                waiting = [*self._pending.values()]
                self._pending.clear()
        for pending in waiting:
            if pending is not None:
                pending.resolve(message)

    def _finish(self) -> None:
        self._outbox.end(discard=True)
        status = self._reap(GRACE)
        end = self._is_no_mintmark or lost(self._binary, status, self._stderr.last_line(), not self._has_answered)
        with self._lock:
            self._end = end
            waiting = [*self._pending.values()]
            self._pending.clear()
        for pending in waiting:
            pending.resolve(None, self.how_it_ended())
        self._stdout.close()

    # Ending

    def end_input(self) -> None:
        """Closes the input. The process still finishes the requests that it has received."""
        self._outbox.end()

    def close(self, grace: float) -> None:
        """Closes the input, and ends the process if it does not exit within `grace` seconds."""
        self._outbox.end()
        self._reap(grace if self._has_answered or self._pending else min(grace, SILENCE))
        self._outbox.end(discard=True)
        if threading.current_thread() is not self._reader:
            self._reader.join(GRACE)

    def _reap(self, grace: float) -> Optional[int]:
        """Waits for the exit of the process. Sends SIGTERM after `grace` seconds, then SIGKILL."""
        for seconds, then in ((grace, signal.SIGTERM), (GRACE, signal.SIGKILL), (GRACE, None)):
            try:
                return self._process.wait(seconds)
            except subprocess.TimeoutExpired:
                if then is not None:
                    self._signal(then)
        return None

    def _signal(self, number: int) -> None:
        if self._process.poll() is None:
            signal_group(self._process.pid, number)

    def abandon(self) -> None:
        """Called in a forked child. The process belongs to the parent."""
        if self._end is not None:
            return
        self._lock = threading.Lock()
        self._pending.clear()
        self._end = ProcessEndedError("The mintmark process belongs to the program that this one was forked from.")
        self._process.returncode = 0
        self._outbox.abandon()
        self._stderr.abandon()
        self._stdout.close()
