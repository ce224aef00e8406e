"""The client for asyncio."""

import asyncio
import inspect
import itertools
import math
from types import TracebackType
from typing import Any, AsyncIterator, Callable, Dict, List, Mapping, Optional, Sequence, Set, Type, TypeVar

from ._async_process import AsyncProcess
from ._errors import CallTimeoutError, ClientClosedError, ProcessEndedError
from ._events import EVENT, follow_async
from ._hooks import answer_of, begun, line, outcome_of, unknown
from ._process import GRACE
from ._settings import Settings, time_limit
from ._typed import params_of, result_of, telling
from ._wire import cancel_line, named, progress_token, raised, request_line
from .generated.clients import AsyncNamespaces
from .generated.types import SecurityEvent

Self = TypeVar("Self", bound="AsyncMintmark")


class AsyncMintmark(Settings, AsyncNamespaces):
    """A Mintmark process and its methods: `await m.token.mint_for_developer(…)`.

    Safe for use by multiple tasks of one event loop. Close it after use, preferably with `async with`. Canceling a task cancels its call.
    """

    def _begin(self) -> None:
        AsyncNamespaces.__init__(self, self._call)
        self._ids = itertools.count(1)
        self._is_closed = False
        self._process: Optional[AsyncProcess] = None
        self._starting: Optional["asyncio.Task[AsyncProcess]"] = None
        self._callbacks: Set["asyncio.Future[Any]"] = set()
        self._progress: Dict[int, Callable[[Any], Any]] = {}
        self._event_listeners: List[Callable[[Any], None]] = []

    async def call(
        self, method: str, params: Optional[Mapping[str, Any]] = None, *,
        timeout: Optional[float] = None, trace: Optional[str] = None, progress: Optional[Callable[[Any], Any]] = None,
    ) -> Any:
        """Calls a method by its name in the contract, with the parameter names of the contract, and returns the result as a `Record`.

        `progress` is called with each progress value of the method, before the call returns. It is a function or a coroutine function.
        """
        return result_of(method, await self._call(method, named(params), timeout, trace, progress))

    def follow(self, types: Optional[Sequence[str]] = None, after: Optional[str] = None) -> AsyncIterator[SecurityEvent]:
        """Returns the events of the store as they occur, without an end.

        Store the `cursor` of each event after you have processed it, and pass it as `after` when your program starts again. If the process
        ends, a new one continues after the last event. A client has one subscription: do not use two iterators at the same time.

        Args:
            types: The types of the events. Defaults to all types.
            after: The cursor of the last event that you have processed. `"0"` returns all events that the store has kept. By default,
                only events from now on are returned.
        """
        return follow_async(self, types, after)

    async def close(self, grace: float = GRACE) -> None:
        """Closes the client. The process finishes the requests that it has received, then exits.

        Args:
            grace: The time limit of the process, in seconds. After it the process receives SIGTERM, and SIGKILL if it still does not exit.
        """
        self._is_closed = True
        if self._starting is not None:
            await asyncio.wait({self._starting})
        if self._process is not None:
            await self._process.close(grace)

    async def __aenter__(self: Self) -> Self:
        await self._running()
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        await self.close()

    # Calls

    async def _call(
        self, method: str, params: Dict[str, Any], timeout: Optional[float], trace: Optional[str],
        progress: Optional[Callable[[Any], Any]] = None,
    ) -> Any:
        limit = self.timeout if timeout is None else time_limit(timeout)
        id = next(self._ids)
        line = request_line(id, method, params, trace, self.maximum_bytes, progress is not None)
        if progress is not None:
            self._progress[id] = telling(method, progress)
        is_repeated = False
        try:
            while True:
                process = self._process if self._is_running() else await self._running()
                assert process is not None
                future = process.send(id, line)
                timer = None if limit is None or limit == math.inf else asyncio.get_running_loop().call_later(limit, give_up, future)
                try:
                    answer = await future
                    break
                except BrokenPipeError:
                    # The request did not reach the process, so it can be sent to a new one.
                    await process.wait_for_end()
                    if is_repeated:
                        raise process.how_it_ended() from None
                    is_repeated = True
                except asyncio.CancelledError:
                    process.cancel(id, cancel_line(id))
                    raise
                finally:
                    if timer is not None:
                        timer.cancel()
        finally:
            if progress is not None:
                del self._progress[id]
        if answer is None:
            process.cancel(id, cancel_line(id))
            raise CallTimeoutError(f"{method} was not answered within {limit:g} s; it was canceled.")
        if "error" in answer:
            raise raised(answer, method, self.binary, self.testing)
        return answer.get("result")

    def _is_running(self) -> bool:
        """Whether the process can take a request immediately."""
        return self._process is not None and self._process.is_running and self._starting is None and not self._is_closed

    async def _running(self) -> AsyncProcess:
        """Returns the process. Starts a new one if it has ended; concurrent calls share one start."""
        if self._is_closed:
            raise ClientClosedError("This client is closed; create a new AsyncMintmark.")
        process = self._process
        if process is not None and self._starting is None:
            ended = await process.ended()
            if ended is None:
                return process
            self._check_restart(ended)
        # Another call may have started a process while this one waited.
        if self._process is not process and self._process is not None:
            return self._process
        if self._starting is None:
            self._starting = asyncio.ensure_future(self._start())
        # Canceling this call must not cancel the start, which other calls await.
        return await asyncio.shield(self._starting)

    async def _start(self) -> AsyncProcess:
        try:
            process = await AsyncProcess.start(self.command_here(), self.environment, self._stderr, self._notify, self._asked)
            if self._hooks:
                await self._offer(process)
            self._process = process
            return process
        finally:
            self._starting = None

    async def _offer(self, process: AsyncProcess) -> None:
        """Offers the hooks to a new process, before it gets any other request."""
        try:
            id = next(self._ids)
            answer = await process.send(id, request_line(id, "hooks.offer", {"hooks": [*self._hooks]}, None, self.maximum_bytes))
        except (BrokenPipeError, ProcessEndedError):
            return  # The call for which the process was started reports the reason.
        if answer is not None and "error" in answer:
            await process.close(GRACE)
            raise raised(answer, "hooks.offer", self.binary, self.testing)

    def _asked(self, message: Dict[str, Any]) -> "asyncio.Future[bytes]":
        """Answers a request of the process in a task of its own."""
        return asyncio.ensure_future(self._answer(message))

    async def _answer(self, message: Dict[str, Any]) -> bytes:
        hook, request = begun(self._hooks, message)
        try:
            if hook is None:
                outcome = unknown(message)
            else:
                found: Any = hook(request)
                outcome = answer_of(await found if inspect.isawaitable(found) else found)
        except Exception as error:
            outcome = outcome_of(error)
        return line(message.get("id"), outcome)

    def _notify(self, method: str, params: Any) -> None:
        if method == EVENT:
            for listener in [*self._event_listeners]:
                listener(params)
        progress = self._progress.get(progress_token(method, params))
        try:
            if progress is not None:
                outcome = progress(params.get("value"))
            elif self._on_notification is not None:
                outcome = self._on_notification(method, params_of(method, params))
            else:
                return
        except Exception as error:
            asyncio.get_running_loop().call_exception_handler({"message": f"the callback for {method} failed", "exception": error})
            return
        if inspect.isawaitable(outcome):
            task = asyncio.ensure_future(outcome)
            self._callbacks.add(task)
            task.add_done_callback(self._callbacks.discard)


def give_up(future: "asyncio.Future[Optional[Dict[str, Any]]]") -> None:
    """Ends the wait of a call whose time limit has passed."""
    if not future.done():
        future.set_result(None)
