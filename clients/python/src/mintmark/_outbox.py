"""The writing end of the pipe. Sending never blocks."""

import os
import select
import threading
from collections import deque
from typing import Deque, Optional


class Outbox:
    """Writes lines to a pipe in the order of `send`.

    A line that fits into the pipe is written immediately. A thread writes the remaining lines and exists only until the pipe has accepted
    them. If the process stops reading (above 1,024 requests in flight), senders are not blocked, and each call is limited by its own
    timeout.
    """

    def __init__(self, descriptor: int) -> None:
        """Takes ownership of `descriptor`."""
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        # Reentrant, because the garbage collector can end a dropped client while this thread holds the lock.
        self._lock = threading.RLock()
        self._waiting: Deque[bytes] = deque()
        self._writer: Optional[threading.Thread] = None
        self._is_ended = False

    def send(self, line: bytes) -> None:
        """Raises `BrokenPipeError` if the outbox has ended. The line was then not sent."""
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
        """Closes the pipe after all queued lines are written, or immediately with `discard`."""
        with self._lock:
            if discard:
                self._waiting.clear()
            if not self._is_ended:
                self._is_ended = True
                if self._writer is None:
                    os.close(self._descriptor)

    def abandon(self) -> None:
        """Called in a forked child. Closes its copy of the pipe. The threads of the parent do not exist here, and its locks can be held."""
        self._lock = threading.RLock()
        if not self._is_ended or self._writer is not None:
            os.close(self._descriptor)
        self._is_ended, self._writer = True, None

    def _write(self, line: bytes) -> bytes:
        """Writes as much as the pipe accepts and returns the rest."""
        try:
            return line[os.write(self._descriptor, line):]
        except BlockingIOError:
            return line

    def _drain(self) -> None:
        ready = select.poll()
        ready.register(self._descriptor, select.POLLOUT)
        while True:
            # The timeout lets this thread notice `discard`, which clears the queue of a pipe without a reader.
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
