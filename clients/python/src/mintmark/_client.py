"""The client for threads."""

import itertools
import queue
import threading
import time
import weakref
from types import TracebackType
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Type, TypeVar

from ._errors import CallTimeoutError, ClientClosedError
from ._events import EVENT, follow
from ._fork import abandon_after_fork
from ._process import GRACE, Pending, Process
from ._settings import Settings, time_limit
from ._typed import params_of, result_of, telling
from ._wire import cancel_line, named, raised, request_line
from .generated.clients import Namespaces
from .generated.types import SecurityEvent

Self = TypeVar("Self", bound="Mintmark")


class Mintmark(Settings, Namespaces):
    """A Mintmark process and its methods: `m.token.mint_for_developer(…)`.

    Safe for use by multiple threads. Close it after use, preferably with `with`.
    """

    def _begin(self) -> None:
        Namespaces.__init__(self, self._call)
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._is_closed = False
        self._notify = Notifications(self._on_notification)
        weakref.finalize(self, self._notify.end)
        self._process: Optional[Process] = None
        self._finalizer: Optional[Callable[[], Any]] = None
        self._running()
        abandon_after_fork(self)

    def call(
        self, method: str, params: Optional[Mapping[str, Any]] = None, *,
        timeout: Optional[float] = None, trace: Optional[str] = None, progress: Optional[Callable[[Any], Any]] = None,
    ) -> Any:
        """Calls a method by its name in the contract, with the parameter names of the contract, and returns the result as a `Record`.

        `progress` is called with each progress value of the method, in the calling thread. If it raises, the call is canceled.
        """
        return result_of(method, self._call(method, named(params), timeout, trace, progress))

    def follow(self, types: Optional[Sequence[str]] = None, after: Optional[str] = None) -> Iterator[SecurityEvent]:
        """Returns the events of the store as they occur, without an end.

        Store the `cursor` of each event after you have processed it, and pass it as `after` when your program starts again. If the process
        ends, a new one continues after the last event. A client has one subscription: do not use two iterators at the same time.

        Args:
            types: The types of the events. Defaults to all types.
            after: The cursor of the last event that you have processed. `"0"` returns all events that the store has kept. By default,
                only events from now on are returned.
        """
        return follow(self, types, after)

    def close(self, grace: float = GRACE) -> None:
        """Closes the client. The process finishes the requests that it has received, then exits.

        Args:
            grace: The time limit of the process, in seconds. After it the process receives SIGTERM, and SIGKILL if it still does not exit.
        """
        with self._lock:
            self._is_closed = True
            process = self._process
        if process is not None:
            process.close(grace)
        self._notify.end()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def abandon(self) -> None:
        """Called in a forked child. The process belongs to the parent; the next call starts a new one."""
        self._lock = threading.Lock()
        self._notify = Notifications(self._on_notification)

    # Calls

    def _call(
        self, method: str, params: Dict[str, Any], timeout: Optional[float], trace: Optional[str],
        progress: Optional[Callable[[Any], Any]] = None,
    ) -> Any:
        limit = self.timeout if timeout is None else time_limit(timeout)
        deadline = None if limit is None else time.monotonic() + limit
        id = next(self._ids)
        if progress is not None:
            progress = telling(method, progress)
        process, pending = self._send(id, request_line(id, method, params, trace, self.maximum_bytes, progress is not None), progress)
        try:
            in_time = pending.wait(None if deadline is None else deadline - time.monotonic())
        except BaseException:
            process.cancel(id, cancel_line(id))
            raise
        if not in_time:
            process.cancel(id, cancel_line(id))
            if not pending.wait(0):
                raise CallTimeoutError(f"{method} was not answered within {limit:g} s; it was canceled.")
        if pending.failure is not None:
            raise pending.failure
        answer = pending.answer or {}
        if "error" in answer:
            raise raised(answer, method, self.binary, self.testing)
        return answer.get("result")

    def _send(self, id: int, line: bytes, progress: Optional[Callable[[Any], Any]]) -> Tuple[Process, Pending]:
        process = self._running()
        try:
            return process, process.send(id, line, progress)
        except BrokenPipeError:
            # The request did not reach the process, so it can be sent to a new one.
            process.wait_for_end()
        process = self._running()
        try:
            return process, process.send(id, line, progress)
        except BrokenPipeError:
            process.wait_for_end()
            raise process.how_it_ended() from None

    def _running(self) -> Process:
        """Returns the process. Starts a new one if it has ended."""
        with self._lock:
            if self._is_closed:
                raise ClientClosedError("This client is closed; create a new Mintmark.")
            process = self._process
            if process is not None:
                if process.ended is None:
                    return process
                self._check_restart(process.ended)
            if self._finalizer is not None:
                self._finalizer()
            self._process = process = Process(self.command_here(), self.environment, self._stderr, self._notify, self._hooks)
            # Ends the process when the client is garbage-collected, and at the end of the program, without waiting for its exit.
            self._finalizer = weakref.finalize(self, process.end_input)
            if self._hooks:
                self._offer(process)
            return process

    def _offer(self, process: Process) -> None:
        """Offers the hooks to a new process, before it gets any other request."""
        try:
            id = next(self._ids)
            pending = process.send(id, request_line(id, "hooks.offer", {"hooks": [*self._hooks]}, None, self.maximum_bytes))
        except BrokenPipeError:
            return  # The call for which the process was started reports the reason.
        pending.wait(self.timeout)
        if pending.answer is not None and "error" in pending.answer:
            process.end_input()
            raise raised(pending.answer, "hooks.offer", self.binary, self.testing)


class Notifications:
    """Calls a callback with one notification at a time, in a separate thread. The callback may call the client."""

    def __init__(self, callback: Optional[Callable[[str, Any], Any]]) -> None:
        self._callback = callback
        self.listeners: List[Callable[[Any], None]] = []
        self._waiting: "queue.SimpleQueue[Optional[Tuple[str, Any]]]" = queue.SimpleQueue()
        self._thread: Optional[threading.Thread] = None

    def __call__(self, method: str, params: Any) -> None:
        if method == EVENT:
            for listener in [*self.listeners]:
                listener(params)
        if self._callback is None:
            return
        self._waiting.put((method, params))
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, args=(self._callback,), name="mintmark-notifications", daemon=True)
            self._thread.start()

    def end(self) -> None:
        """Ends the thread after the queued notifications are delivered."""
        self._waiting.put(None)

    def _run(self, callback: Callable[[str, Any], Any]) -> None:
        for method, params in iter(self._waiting.get, None):
            try:
                callback(method, params_of(method, params))
            except Exception as error:
                threading.excepthook(threading.ExceptHookArgs((type(error), error, error.__traceback__, threading.current_thread())))
