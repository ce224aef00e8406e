"""All exceptions: `MintmarkError` is the base class, and `AnsweredError` is the base class of the errors that Mintmark returns."""

# `as` marks a name as public for type checkers.
from ._errors import (
    AnsweredError as AnsweredError,
    BinaryNotFound as BinaryNotFound,
    CallTimeout as CallTimeout,
    ClientClosed as ClientClosed,
    ConnectionLost as ConnectionLost,
    MintmarkError as MintmarkError,
    ProtocolError as ProtocolError,
)
from .generated.errors import *  # noqa: F403
from .generated.errors import MethodNotFound


class BinaryTooOld(MethodNotFound):
    """The program is older than this client or lacks one of its methods. The message contains the recommended action."""
