"""Every exception: `MintmarkError` is the base of all, `AnsweredError` of those that a call is answered with."""

# `as` says to type checkers that a name is meant for others.
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
    """The binary is older than this client, or does not know one of its methods; the message says what to do."""
