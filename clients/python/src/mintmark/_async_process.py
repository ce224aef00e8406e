"""A process for asyncio: a task reads its responses and passes each to the waiting call."""

import asyncio
import signal
from typing import Any, Callable, Dict, List, Mapping, Optional, Set

from ._errors import BinaryNotFoundError, MintmarkError
from ._process import GRACE, SILENCE, signal_group
from ._settings import again, lost, no_mintmark, too_old
from ._stderr import Destination, StandardError
from ._wire import INFO_ID, INFO_LINE, Garbage, Lines, old_version

# The read buffer of the stream. It does not limit the length of a line, because this module splits the lines itself.
READ_AHEAD = 1 << 20


class AsyncProcess:
    """A `mintmark serve` process and its pipes. Belongs to the event loop in which it was started."""

    def __init__(
        self, binary: str, process: asyncio.subprocess.Process, stderr: StandardError, notify: Callable[[str, Any], None],
        asked: Callable[[Dict[str, Any]], "asyncio.Future[bytes]"],
    ) -> None:
        self._asked = asked
        self._answers: Set["asyncio.Future[bytes]"] = set()
        self._binary = binary
        self._process = process
        self._stderr = stderr
        self._notify = notify
        self._pending: Dict[int, "asyncio.Future[Optional[Dict[str, Any]]]"] = {}
        self._loop = asyncio.get_running_loop()
        self._end: Optional[MintmarkError] = None
        self._is_no_mintmark: Optional[MintmarkError] = None
        self._is_ending = self._has_answered = False
        assert process.stdin is not None and process.stdout is not None
        self._stdin, self._stdout = process.stdin.transport, process.stdout
        self._stdin.write(INFO_LINE)
        # What will be written in the next turn of the event loop, and the IDs of the requests in it.
        self._outgoing: List[bytes] = []
        self._unsent: List[int] = []
        self._reader = self._loop.create_task(self._read())

    @classmethod
    async def start(
        cls, command: List[str], environment: Mapping[str, str], destination: Destination, notify: Callable[[str, Any], None],
        asked: Callable[[Dict[str, Any]], "asyncio.Future[bytes]"],
    ) -> "AsyncProcess":
        stderr = StandardError(destination)
        try:
            process = await asyncio.create_subprocess_exec(
                *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=stderr.writing,
                env=dict(environment), limit=READ_AHEAD, start_new_session=True,
            )
        except OSError as error:
            raise BinaryNotFoundError(
                f"{command[0]} cannot be run: {error.strerror}. Set another path with binary= or MINTMARK_BINARY.") from error
        finally:
            stderr.start()
        return cls(command[0], process, stderr, notify, asked)

    @property
    def is_running(self) -> bool:
        return not self._is_ending and self._end is None

    async def ended(self) -> Optional[MintmarkError]:
        """Returns the reason the process has ended, or `None` while it runs."""
        if self._is_ending and self._end is None:
            await asyncio.wait({self._reader})
        return self._end

    async def wait_for_end(self) -> None:
        """Waits for the end of the process after its pipe broke, so that `ended` returns the reason."""
        await asyncio.wait({self._reader}, timeout=3 * GRACE)

    def how_it_ended(self) -> MintmarkError:
        """Returns a new exception for a call that failed because the process has ended."""
        return lost(self._binary, None, None) if self._end is None else again(self._end)

    # Calls

    def send(self, id: int, line: bytes) -> "asyncio.Future[Optional[Dict[str, Any]]]":
        """Sends a request without blocking; the event loop writes what the pipe does not accept immediately. While other calls wait, the
        requests of one turn of the event loop share one write.

        Returns a future of the response, which fails with `BrokenPipeError` if the request did not reach the process.
        """
        is_alone = not self._pending
        future = self._pending[id] = self._loop.create_future()
        self._write(line)
        self._unsent.append(id)
        if is_alone:
            self._flush()
        return future

    def cancel(self, id: int, line: bytes) -> None:
        """Stops waiting for a response and sends a cancellation."""
        self._pending.pop(id, None)
        self._write(line)

    def _write(self, line: bytes) -> None:
        if not self._outgoing:
            self._loop.call_soon(self._flush)
        self._outgoing.append(line)

    def _flush(self) -> None:
        lines, ids = self._outgoing, self._unsent
        if not lines:
            return
        self._outgoing, self._unsent = [], []
        if self._end is None and not self._stdin.is_closing():
            self._stdin.write(b"".join(lines))
        # A write to a broken pipe closes the transport. A write that is queued behind others has not been attempted yet.
        if self._end is None and not self._stdin.is_closing():
            return
        for id in ids:
            future = self._pending.pop(id, None)
            if future is not None and not future.done():
                future.set_exception(BrokenPipeError())

    # Reading

    async def _read(self) -> None:
        lines = Lines()
        try:
            while True:
                block = await self._stdout.read(READ_AHEAD)
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
            self._is_ending = True
            status = await self._reap(GRACE)
            last_line = await self._loop.run_in_executor(None, self._stderr.last_line)
            self._finish(self._is_no_mintmark or lost(self._binary, status, last_line, not self._has_answered))
        finally:
            # The event loop can end first and cancel this task.
            if self._end is None:
                self._finish(lost(self._binary, self._process.returncode, None))

    def _take(self, message: Dict[str, Any]) -> None:
        method = message.get("method")
        if isinstance(method, str) and "id" in message:
            answer = self._asked(message)
            self._answers.add(answer)
            answer.add_done_callback(self._answered)
            return
        if isinstance(method, str):
            self._notify(method, message.get("params"))
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
        if message.get("error") is None or id is not None:
            waiting = [] if id is None else [self._pending.pop(id, None)]
        else:
            # The process could not parse a line, so the error has no ID. The client does not send such lines, so every waiting call fails.
            waiting = [*self._pending.values()]
            self._pending.clear()
        for future in waiting:
            if future is not None and not future.done():
                future.set_result(message)

    def _answered(self, answer: "asyncio.Future[bytes]") -> None:
        """Sends the answer of a hook."""
        self._answers.discard(answer)
        if not answer.cancelled():
            self._write(answer.result())

    def _finish(self, end: MintmarkError) -> None:
        self._end = end
        self._flush()
        self._stdin.close()
        waiting = [*self._pending.values()]
        self._pending.clear()
        for future in waiting:
            if not future.done():
                future.set_exception(self.how_it_ended())

    # Ending

    async def close(self, grace: float) -> None:
        """Closes the input, and ends the process if it does not exit within `grace` seconds."""
        self._flush()
        self._stdin.close()
        await self._reap(grace if self._has_answered or self._pending else min(grace, SILENCE))
        await asyncio.wait({self._reader}, timeout=GRACE)

    async def _reap(self, grace: float) -> Optional[int]:
        """Waits for the exit of the process. Sends SIGTERM after `grace` seconds, then SIGKILL."""
        for seconds, then in ((grace, signal.SIGTERM), (GRACE, signal.SIGKILL), (GRACE, None)):
            try:
                return await asyncio.wait_for(self._process.wait(), seconds)
            except asyncio.TimeoutError:
                if then is not None:
                    self._signal(then)
        return None

    def _signal(self, number: int) -> None:
        if self._process.returncode is None:
            signal_group(self._process.pid, number)
