"""The exceptions that do not follow from the contract, and the base of those that do."""

from typing import Any, Callable, Dict, Optional, Tuple


class MintmarkError(Exception):
    """The base of everything this package raises, wrong arguments aside."""


class AnsweredError(MintmarkError):
    """A call was answered with an error. A type that this client does not know is raised as this class itself."""

    code: int = 0
    """The number of the error; each belongs to one `type` for good."""
    type: str = ""
    """The stable name of the error."""

    def __init__(
        self,
        message: str,
        data: Optional[Dict[str, Any]] = None,
        trace: Optional[str] = None,
        code: Optional[int] = None,
        type: Optional[str] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.data: Dict[str, Any] = {} if data is None else data
        self.trace = trace
        if code is not None:
            self.code = code
        if type is not None:
            self.type = type

    @property
    def retry_after_seconds(self) -> Optional[int]:
        """After how many seconds the call may succeed; `None` if trying again does not help."""
        value = self.data.get("retryAfterSeconds")
        return value if isinstance(value, int) else None

    def _required(self, name: str) -> Any:
        try:
            return self.data[name]
        except KeyError:
            raise AttributeError(f"this error has no {name}: client and binary are of different versions") from None

    def _optional(self, name: str) -> Optional[Any]:
        return self.data.get(name)

    def __reduce__(self) -> Tuple[Callable[..., "AnsweredError"], Tuple[Any, ...]]:
        return (self.__class__, (self.message, self.data, self.trace, self.code, self.type))


class BinaryNotFound(MintmarkError, FileNotFoundError):
    """There is no `mintmark` to run; the message says what to do."""


class ConnectionLost(MintmarkError, ConnectionError):
    """The process ended before it answered: the call may have been carried out, or not.

    `exit_status` is negative where a signal ended it, as in `subprocess`; `last_line` is what it said on standard error.
    """

    def __init__(self, message: str, exit_status: Optional[int] = None, last_line: Optional[str] = None) -> None:
        super().__init__(message)
        self.exit_status = exit_status
        self.last_line = last_line


class ProtocolError(ConnectionLost):
    """What came out of the pipe is not what Mintmark writes; the process was ended. Is it the right program?"""


class ClientClosed(MintmarkError):
    """`close()` was called before."""


class CallTimeout(MintmarkError, TimeoutError):
    """No answer came in time. The call was cancelled; what was committed by then stays."""
