"""Reads the standard error of the process, passes it on, and keeps the last lines for error messages."""

import os
import sys
import threading
from collections import deque
from typing import IO, Any, Deque, Optional, Union

# The destination of standard error: "inherit" for that of this program, a file, or None to discard it.
Destination = Union[str, IO[Any], None]


class StandardError:
    """A pipe for the standard error of one process. A thread reads it until the process ends."""

    def __init__(self, destination: Destination) -> None:
        if isinstance(destination, str) and destination != "inherit":
            raise ValueError(f'stderr is "inherit", an open file or None, not {destination!r}')
        self._destination = destination
        self._last: Deque[str] = deque(maxlen=20)
        self._reading, self.writing = os.pipe()
        self._thread = threading.Thread(target=self._read, name="mintmark-stderr", daemon=True)

    def start(self) -> None:
        """Starts the thread. Must be called after the process has inherited `writing`, or could not be started."""
        os.close(self.writing)
        self._thread.start()

    def last_line(self) -> Optional[str]:
        """Returns the most informative line about the end of the process: its last error, otherwise its last line."""
        self._thread.join(1)
        lines = list(self._last)
        return next((line for line in reversed(lines) if line.lower().startswith("error")), lines[-1] if lines else None)

    def abandon(self) -> None:
        """Called in a forked child, in which the thread does not exist."""
        try:
            os.close(self._reading)
        except OSError:
            pass

    def _read(self) -> None:
        with os.fdopen(self._reading, "rb") as stream:
            for line in stream:
                text = line.decode(errors="replace")
                if text.strip():
                    self._last.append(text.strip())
                try:
                    self._pass_on(line, text)
                except (OSError, ValueError):
                    pass

    def _pass_on(self, line: bytes, text: str) -> None:
        if self._destination is None:
            return
        stream = sys.stderr if isinstance(self._destination, str) else self._destination
        if stream is None:
            return
        binary = getattr(stream, "buffer", None)
        if binary is None and "b" in getattr(stream, "mode", ""):
            binary = stream
        if binary is not None:
            binary.write(line)
            binary.flush()
        else:
            stream.write(text)
            stream.flush()
