"""The exceptions of the client, and the base class of the generated exceptions."""

from typing import Any, Callable, Dict, Optional, Tuple

from ._record import copied


class MintmarkError(Exception):
    """The base class of all exceptions of this package, except those for invalid arguments."""


class APIError(MintmarkError):
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
        method: Optional[str] = None,
    ) -> None:
        super().__init__(message)
        self.message: str = message
        self.data: Dict[str, Any] = {} if data is None else data
        """The details as JSON."""
        self.trace: Optional[str] = trace
        """The trace of the call."""
        self.method: Optional[str] = method
        """The method that was called."""
        if code is not None:
            self.code = code
        if type is not None:
            self.type = type

    @property
    def retry_after_seconds(self) -> Optional[int]:
        """The number of seconds after which the call can succeed, or `None` if a retry cannot succeed."""
        value = self.data.get("retryAfterSeconds")
        return value if isinstance(value, int) else None

    def __reduce__(self) -> Tuple[Callable[..., "APIError"], Tuple[Any, ...]]:
        return (self.__class__, (self.message, self.data, self.trace, self.code, self.type, self.method))


class Detail:
    """A descriptor that reads a member of the details of an error."""

    __slots__ = ("name", "read", "is_optional")

    def __init__(self, name: str, read: Optional[Callable[[Any], Any]], is_optional: bool) -> None:
        self.name, self.read, self.is_optional = name, read, is_optional

    def __get__(self, error: Any, owner: Any = None) -> Any:
        if error is None:
            return self
        value = error.data.get(self.name)
        if value is None:
            if not self.is_optional:
                raise AttributeError(f"this {type(error).__name__} has no {self.name}: client and program are of different versions")
            return None
        return self.read(value) if self.read is not None else copied(value)

    def __set__(self, error: Any, value: Any) -> None:
        raise AttributeError("the details of an error cannot be changed")


def detail(name: str, read: Optional[Callable[[Any], Any]] = None, *, optional: bool = False) -> Any:
    """Declares a detail of an error. `name` is its name in JSON; `read` converts its value."""
    return Detail(name, read, optional)


class BinaryNotFoundError(MintmarkError, FileNotFoundError):
    """The program `mintmark` was not found or cannot be executed. The message contains the recommended action."""


class BinaryTooOldError(MintmarkError):
    """The program is older than this client or lacks one of its methods. The message contains the recommended action."""


class ProtocolError(MintmarkError):
    """The output of the program is not valid Mintmark output. The process was killed. Check that `binary` is the right program."""


class ProcessEndedError(MintmarkError, ConnectionError):
    """The process ended before it returned a response. It is unknown whether the call took effect.

    `exit_status` is negative if a signal ended the process, as in `subprocess`. `last_line` is its last line of standard error.
    """

    def __init__(self, message: str, exit_status: Optional[int] = None, last_line: Optional[str] = None) -> None:
        super().__init__(message)
        self.exit_status: Optional[int] = exit_status
        self.last_line: Optional[str] = last_line


class ClientClosedError(MintmarkError):
    """The client was already closed."""


class CallTimeoutError(MintmarkError, TimeoutError):
    """The call took longer than its time limit. It was canceled; changes that were already committed remain."""
