"""The writing end of the pipe. Whoever sends never waits."""

import os
import select
import threading
from collections import deque
from typing import Deque, Optional


class Outbox:
    """Writes lines to a pipe in the order of `send`.

    A line that fits into the pipe is written at once. What does not fit waits for a thread that lives until the pipe has taken it: a
    process that stops reading (it does above 1,024 unanswered requests) delays no caller, whose time is limited by its own timeout.
    """

    def __init__(self, descriptor: int) -> None:
        """Takes over `descriptor`."""
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        # Reentrant: the collector may end a dropped client in the middle of this.
        self._lock = threading.RLock()
        self._waiting: Deque[bytes] = deque()
        self._writer: Optional[threading.Thread] = None
        self._is_ended = False

    def send(self, line: bytes) -> None:
        """Raises `BrokenPipeError` if nobody will read the line: it was not, and will not be, carried out."""
        with self._lock:
            if self._is_ended:
                raise BrokenPipeError
            if self._writer is None:
                rest = self._write(line)
                if not rest:
                    return
                self._waiting.append(rest)
                self._writer = threading.Thread(target=self._drain, name="mintmark-writer", daemon=True)
                self._writer.start()
            else:
                self._waiting.append(line)

    def end(self, discard: bool = False) -> None:
        """Closes the pipe once everything is written; with `discard`, at once."""
        with self._lock:
            if discard:
                self._waiting.clear()
            if not self._is_ended:
                self._is_ended = True
                if self._writer is None:
                    os.close(self._descriptor)

    def abandon(self) -> None:
        """In a forked child: closes its copy of the pipe. No thread of the parent lives here, and its locks may be held."""
        self._lock = threading.RLock()
        if not self._is_ended or self._writer is not None:
            os.close(self._descriptor)
        self._is_ended, self._writer = True, None

    def _write(self, line: bytes) -> bytes:
        """Writes what the pipe takes now and gives back the rest."""
        try:
            return line[os.write(self._descriptor, line):]
        except BlockingIOError:
            return line

    def _drain(self) -> None:
        ready = select.poll()
        ready.register(self._descriptor, select.POLLOUT)
        while True:
            # With an end in sight, one that nobody reads is not waited for: `discard` clears what waits.
            ready.poll(100)
            with self._lock:
                try:
                    while self._waiting:
                        rest = self._write(self._waiting[0])
                        if rest:
                            self._waiting[0] = rest
                            break
                        self._waiting.popleft()
                except OSError:
                    self._waiting.clear()
                if not self._waiting:
                    self._writer = None
                    if self._is_ended:
                        os.close(self._descriptor)
                    return
