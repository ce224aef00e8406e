"""The interface through which the generated methods send requests."""

from typing import Any, Dict, Optional, Protocol


class Call(Protocol):
    """Sends one request and waits for its result. Members that are `None` are omitted."""

    def __call__(self, method: str, params: Dict[str, Any], timeout: Optional[float], trace: Optional[str]) -> Any: ...


class AsyncCall(Protocol):
    """Sends one request and returns an awaitable of its result."""

    async def __call__(self, method: str, params: Dict[str, Any], timeout: Optional[float], trace: Optional[str]) -> Any: ...
