"""The exceptions of the client, and the base class of the generated exceptions."""

from typing import Any, Callable, Dict, Optional, Tuple


class MintmarkError(Exception):
    """The base class of all exceptions of this package, except those for invalid arguments."""


class AnsweredError(MintmarkError):
    """Mintmark returned an error. An error type that this client does not know is raised as this class."""

    code: int = 0
    """The number of the error, which is unique to its `type` and never changes."""
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
        """The number of seconds after which the call can succeed, or `None` if a retry cannot succeed."""
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
    """The program `mintmark` was not found or cannot be executed. The message contains the recommended action."""


class ConnectionLost(MintmarkError, ConnectionError):
    """The process ended before it returned a response. It is unknown whether the call took effect.

    `exit_status` is negative if a signal ended the process, as in `subprocess`. `last_line` is its last line of standard error.
    """

    def __init__(self, message: str, exit_status: Optional[int] = None, last_line: Optional[str] = None) -> None:
        super().__init__(message)
        self.exit_status = exit_status
        self.last_line = last_line


class ProtocolError(ConnectionLost):
    """The output of the program is not valid Mintmark output. The process was killed. Check that `binary` is the right program."""


class ClientClosed(MintmarkError):
    """The client was already closed."""


class CallTimeout(MintmarkError, TimeoutError):
    """The call took longer than its time limit. It was canceled; changes that were already committed remain."""
