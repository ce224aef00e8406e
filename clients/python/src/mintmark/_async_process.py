"""One running process for asyncio: a task reads its answers and hands each to the call that waits for it."""

import asyncio
from typing import Any, Callable, Dict, List, Mapping, Optional

from ._errors import BinaryNotFound, MintmarkError
from ._process import GRACE
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
        self._pending: Dict[int, "asyncio.Future[Dict[str, Any]]"] = {}
        self._loop = asyncio.get_running_loop()
        self._end: Optional[MintmarkError] = None
        self._is_no_mintmark: Optional[MintmarkError] = None
        self._is_ending = False
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

    # Calls

    def send(self, id: int, line: bytes) -> "asyncio.Future[Dict[str, Any]]":
        """Never waits: what the pipe does not take at once is written by the loop."""
        future: "asyncio.Future[Dict[str, Any]]" = self._loop.create_future()
        if self._end is not None:
            future.set_exception(self._how_it_ended())
            return future
        self._pending[id] = future
        if not self._stdin.is_closing():
            self._stdin.write(line)
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
                    self._process.kill()
                    break
            self._is_ending = True
            status = await self._reap(GRACE)
            last_line = await self._loop.run_in_executor(None, self._stderr.last_line)
            self._finish(self._is_no_mintmark or lost(self._binary, status, last_line))
        finally:
            # The loop may end first and cancel this task.
            if self._end is None:
                self._finish(lost(self._binary, self._process.returncode, None))

    def _take(self, message: Dict[str, Any]) -> None:
        method = message.get("method")
        if isinstance(method, str):
            self._notify(method, message.get("params"))
            return
        id = message.get("id")
        if id == INFO_ID:
            version = old_version(message)
            if version is not None:
                self._is_no_mintmark = too_old(self._binary, version)
            return
        # Nothing that an older program answers counts.
        if self._is_no_mintmark is not None:
            return
        if isinstance(id, int):
            waiting = [self._pending.pop(id, None)]
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
                future.set_exception(self._how_it_ended())

    def _how_it_ended(self) -> MintmarkError:
        assert self._end is not None
        return again(self._end)

    # Ending

    async def close(self, grace: float) -> None:
        """Ends the input, and the process if it does not end by itself within `grace` seconds."""
        self._stdin.close()
        await self._reap(grace)
        await asyncio.wait({self._reader}, timeout=GRACE)

    async def _reap(self, grace: float) -> Optional[int]:
        """Waits for the end of the process, and sees to it."""
        for seconds, then in ((grace, self._process.terminate), (GRACE, self._process.kill), (GRACE, None)):
            try:
                return await asyncio.wait_for(self._process.wait(), seconds)
            except asyncio.TimeoutError:
                if then is not None:
                    then()
        return None
