"""How the generated methods reach the process."""

from typing import Any, Dict, Optional, Protocol


class Call(Protocol):
    """Sends one request and waits for its result; members that are `None` are left out."""

    def __call__(self, method: str, params: Dict[str, Any], timeout: Optional[float], trace: Optional[str]) -> Any: ...


class AsyncCall(Protocol):
    """The same, to be awaited."""

    async def __call__(self, method: str, params: Dict[str, Any], timeout: Optional[float], trace: Optional[str]) -> Any: ...
