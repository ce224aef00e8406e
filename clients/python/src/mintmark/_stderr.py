"""What the process says on standard error: passed on, and its last lines kept for error messages."""

import os
import sys
import threading
from collections import deque
from typing import IO, Any, Deque, Optional, Union

# Where standard error goes: "inherit" for that of this program, a file, or None for nowhere.
Destination = Union[str, IO[Any], None]


class StandardError:
    """A pipe for one process's standard error, read by a thread of its own until the process ends."""

    def __init__(self, destination: Destination) -> None:
        if isinstance(destination, str) and destination != "inherit":
            raise ValueError(f'stderr is "inherit", an open file or None, not {destination!r}')
        self._destination = destination
        self._last: Deque[str] = deque(maxlen=20)
        self._reading, self.writing = os.pipe()
        self._thread = threading.Thread(target=self._read, name="mintmark-stderr", daemon=True)

    def start(self) -> None:
        """To be called when the process has its copy of `writing`, or could not be started."""
        os.close(self.writing)
        self._thread.start()

    def last_line(self) -> Optional[str]:
        """What tells most about the end of the process: its last error, else its last line."""
        self._thread.join(1)
        lines = list(self._last)
        return next((line for line in reversed(lines) if line.lower().startswith("error")), lines[-1] if lines else None)

    def abandon(self) -> None:
        """In a forked child, where the thread does not live."""
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
