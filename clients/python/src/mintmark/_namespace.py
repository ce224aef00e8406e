"""The base classes of the generated namespaces, and the interface through which they send requests."""

from typing import Any, AsyncIterator, Callable, Dict, Iterator, Mapping, Optional, Protocol, TypeVar


class Call(Protocol):
    """Sends one request and waits for its result. Members that are `None` are omitted."""

    def __call__(
        self, method: str, params: Dict[str, Any], timeout: Optional[float], trace: Optional[str],
        progress: Optional[Callable[[Any], Any]] = None,
    ) -> Any: ...


class AsyncCall(Protocol):
    """Sends one request and returns an awaitable of its result."""

    async def __call__(
        self, method: str, params: Dict[str, Any], timeout: Optional[float], trace: Optional[str],
        progress: Optional[Callable[[Any], Any]] = None,
    ) -> Any: ...


class Page(Protocol):
    """A page of a list."""

    @property
    def next_cursor(self) -> Optional[str]: ...


P = TypeVar("P", bound=Page)


class Namespace:
    """The methods of a client that share the first part of their names.

    All methods accept `timeout`, the time limit in seconds, which defaults to that of the client, and `trace`, a text of at most 128
    characters that is written to the logs and audit records of the call.
    """

    __slots__ = ("_send",)

    def __init__(self, send: Call) -> None:
        self._send = send

    def _pages(
        self, read: Callable[[Any], P], method: str, params: Dict[str, Any], timeout: Optional[float], trace: Optional[str]
    ) -> Iterator[P]:
        while True:
            page = read(self._send(method, params, timeout, trace))
            yield page
            if not page.next_cursor:
                return
            params = {**params, "cursor": page.next_cursor}


class AsyncNamespace:
    """The methods of a client for asyncio that share the first part of their names. They accept `timeout` and `trace` as in `Namespace`."""

    __slots__ = ("_send",)

    def __init__(self, send: AsyncCall) -> None:
        self._send = send

    async def _pages(
        self, read: Callable[[Any], P], method: str, params: Dict[str, Any], timeout: Optional[float], trace: Optional[str]
    ) -> AsyncIterator[P]:
        while True:
            page = read(await self._send(method, params, timeout, trace))
            yield page
            if not page.next_cursor:
                return
            params = {**params, "cursor": page.next_cursor}


def json_object(value: Any) -> Mapping[str, Any]:
    """Returns a result without known members unchanged."""
    return value  # type: ignore[no-any-return]
