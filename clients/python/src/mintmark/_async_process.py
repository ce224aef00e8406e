"""One running process for asyncio: a task reads its answers and hands each to the call that waits for it."""

import asyncio
import signal
from typing import Any, Callable, Dict, List, Mapping, Optional

from ._errors import BinaryNotFound, MintmarkError
from ._process import GRACE, SILENCE, signal_group
from ._settings import again, lost, no_mintmark, too_old
from ._stderr import Destination, StandardError
from ._wire import INFO_ID, INFO_LINE, Garbage, Lines, old_version

# How much is read ahead of the task. Lines are cut here, so it limits no answer.
READ_AHEAD = 1 << 20


class AsyncProcess:
    """A `mintmark serve` and its pipe, from start to end. Belongs to the loop it was started in."""

    def __init__(
        self, binary: str, process: asyncio.subprocess.Process, stderr: StandardError, notify: Callable[[str, Any], None]
    ) -> None:
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
        self._stdin, self._stdout = process.stdin, process.stdout
        self._stdin.write(INFO_LINE)
        self._reader = self._loop.create_task(self._read())

    @classmethod
    async def start(
        cls, command: List[str], environment: Mapping[str, str], destination: Destination, notify: Callable[[str, Any], None]
    ) -> "AsyncProcess":
        stderr = StandardError(destination)
        try:
            process = await asyncio.create_subprocess_exec(
                *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=stderr.writing,
                env=dict(environment), limit=READ_AHEAD, start_new_session=True,
            )
        except OSError as error:
            raise BinaryNotFound(f"{command[0]} cannot be run: {error.strerror}. Name another with binary= or MINTMARK_BINARY.") from error
        finally:
            stderr.start()
        return cls(command[0], process, stderr, notify)

    async def ended(self) -> Optional[MintmarkError]:
        """How it ended, if it did."""
        if self._is_ending and self._end is None:
            await asyncio.wait({self._reader})
        return self._end

    async def wait_for_end(self) -> None:
        """To be called when the pipe is broken, so that `ended` says why."""
        await asyncio.wait({self._reader}, timeout=3 * GRACE)

    def how_it_ended(self) -> MintmarkError:
        """A new exception for a call that fails by the end of the process."""
        return lost(self._binary, None, None) if self._end is None else again(self._end)

    # Calls

    def send(self, id: int, line: bytes) -> "asyncio.Future[Optional[Dict[str, Any]]]":
        """Never waits: what the pipe does not take at once is written by the loop. Gives the answer, or what else its caller sets.

        Raises:
            BrokenPipeError: the request did not reach the process.
        """
        if self._end is None and not self._stdin.is_closing():
            self._stdin.write(line)
        # A write that found the pipe broken has closed it; one that waits behind others has not been tried.
        if self._end is not None or self._stdin.is_closing():
            raise BrokenPipeError
        future = self._pending[id] = self._loop.create_future()
        return future

    def cancel(self, id: int, line: bytes) -> None:
        """Nobody waits for this answer any more."""
        self._pending.pop(id, None)
        if self._end is None and not self._stdin.is_closing():
            self._stdin.write(line)

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
            # The loop may end first and cancel this task.
            if self._end is None:
                self._finish(lost(self._binary, self._process.returncode, None))

    def _take(self, message: Dict[str, Any]) -> None:
        method = message.get("method")
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
        # Nothing that an older program answers counts, nor what answers no request of this client: `True` is no 1.
        if self._is_no_mintmark is not None or not (id is None or type(id) is int):
            return
        if message.get("error") is None or id is not None:
            waiting = [] if id is None else [self._pending.pop(id, None)]
        else:
            # The process could not read a line and does not know whose it was; what is refused so is not sent, so this is a fault.
            waiting = [*self._pending.values()]
            self._pending.clear()
        for future in waiting:
            if future is not None and not future.done():
                future.set_result(message)

    def _finish(self, end: MintmarkError) -> None:
        self._end = end
        self._stdin.close()
        waiting = [*self._pending.values()]
        self._pending.clear()
        for future in waiting:
            if not future.done():
                future.set_exception(self.how_it_ended())

    # Ending

    async def close(self, grace: float) -> None:
        """Ends the input, and the process if it does not end by itself within `grace` seconds."""
        self._stdin.close()
        await self._reap(grace if self._has_answered or self._pending else min(grace, SILENCE))
        await asyncio.wait({self._reader}, timeout=GRACE)

    async def _reap(self, grace: float) -> Optional[int]:
        """Waits for the end of the process, and sees to it."""
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
