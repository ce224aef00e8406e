"""Encodes and decodes JSON-RPC 2.0, one message per line, and converts errors to exceptions."""

import functools
import json
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple

from ._errors import APIError, BinaryTooOldError, MintmarkError
from ._record import plain
from .generated.contract import METHODS, TESTING_METHODS, __version__
from .generated.errors import BY_TYPE, InvalidRequestError, MethodNotFoundError

# The process rejects JSON that is nested deeper, and its error then lacks the ID of the request.
MAXIMUM_DEPTH = 64

# The maximum length of a line, in bytes: a result of 16 MiB and its envelope.
LONGEST_LINE = 17 << 20

# Shared, because json.dumps creates an encoder for each call, and json.loads detects the encoding. `plain` has found cycles before.
READER = json.JSONDecoder()
WRITER = json.JSONEncoder(ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":"))


def request_line(
    id: int, method: str, params: Mapping[str, Any], trace: Optional[str], maximum_bytes: int, wants_progress: bool = False
) -> bytes:
    """Encodes a request. Rejects requests that the process could not attribute to the call.

    Raises:
        InvalidRequestError: If the line is too long or too deeply nested.
        ValueError, TypeError: If a value has no JSON form: NaN, a lone surrogate, a cycle, or an object of an unsupported type.
    """
    try:
        given = {name: plain(value) for name, value in params.items() if value is not None}
    except RecursionError:
        raise ValueError(f"a parameter of {method} contains itself, or nests too deep") from None
    try:
        text = f'{{"jsonrpc":"2.0","id":{id},"method":{written(method)}'
        if given:
            text += ',"params":' + WRITER.encode(given)
        if trace is not None:
            text += ',"trace":' + WRITER.encode(trace)
        if wants_progress:
            text += f',"progressToken":{id}'
        line = (text + "}\n").encode()
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"the parameters of {method} have no JSON: {error}") from None
    if len(line) - 1 > maximum_bytes:
        raise refused(f"a line of {len(line) - 1} bytes is longer than the {maximum_bytes} of max_line_bytes")
    # The request itself is the first level.
    if line.count(b"{") + line.count(b"[") > MAXIMUM_DEPTH and 1 + depth(given) > MAXIMUM_DEPTH:
        raise refused(f"it nests deeper than {MAXIMUM_DEPTH}")
    return line


@functools.lru_cache(maxsize=1024)
def written(method: str) -> str:
    """Encodes the name of a method."""
    return WRITER.encode(method)


def named(params: Optional[Mapping[str, Any]]) -> Dict[str, Any]:
    """Checks and copies parameters, which are always passed by name."""
    if params is not None and not isinstance(params, Mapping):
        raise TypeError(f"parameters are given by name, as a dict; not as a {type(params).__name__}")
    return dict(params or {})


def cancel_line(id: int) -> bytes:
    """Encodes the notification that cancels a request."""
    return b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%d}}\n' % id


def refused(reason: str) -> InvalidRequestError:
    return InvalidRequestError(f"This request cannot be sent: {reason}.", {"type": InvalidRequestError.type, "reason": reason})


def depth(value: Any) -> int:
    """Returns the nesting depth of the arrays and objects in `value`."""
    deepest, level = 0, [value]
    while level:
        inner: List[Any] = []
        for each in level:
            if isinstance(each, dict):
                inner += each.values()
            elif isinstance(each, list):
                inner += each
        deepest += any(isinstance(each, (dict, list)) for each in level)
        level = inner
    return deepest


# The ID of the first request, system.info. Calls have higher IDs.
INFO_ID = 0
INFO_LINE = b'{"jsonrpc":"2.0","id":0,"method":"system.info"}\n'


def progress_token(method: str, params: Any) -> int:
    """Returns the ID of the call that a progress notification belongs to. Otherwise returns `INFO_ID`, which no call uses."""
    token = params.get("token") if method == "$/progress" and isinstance(params, dict) else None
    return token if isinstance(token, int) else INFO_ID


def old_version(answer: Mapping[str, Any]) -> Optional[str]:
    """Returns the version in the response to `INFO_LINE` if it is below that of the contract.

    Returns `None` for a process that does not allow system.info: it counts as supported.
    """
    result = answer.get("result")
    told = result.get("version") if isinstance(result, dict) else None
    return told if isinstance(told, str) and numbers(told) < numbers(__version__) else None


def numbers(version: str) -> Tuple[int, ...]:
    return tuple(int(each) for each in version.partition("-")[0].split(".") if each.isdecimal())


class Garbage(Exception):
    """A line is not valid Mintmark output."""


class Lines:
    """Splits the output into messages."""

    def __init__(self) -> None:
        self._rest: List[bytes] = []
        self._length = 0

    def messages(self, block: bytes) -> Iterator[Dict[str, Any]]:
        """Yields the messages that `block` completes. Messages before an invalid line are still yielded.

        Raises:
            Garbage: If a line is not a message or is too long.
        """
        *lines, rest = block.split(b"\n")
        if lines:
            lines[0] = b"".join([*self._rest, lines[0]])
            self._rest, self._length = [], 0
        if rest:
            self._rest.append(rest)
            self._length += len(rest)
        for line in lines:
            try:
                message = READER.decode(line.decode())
            except (ValueError, RecursionError):
                message = None
            if not isinstance(message, dict) or message.get("jsonrpc") != "2.0" or not is_meant(message):
                raise Garbage(repr(line[:80].decode(errors="replace")))
            yield message
        if self._length > LONGEST_LINE:
            raise Garbage(f"a line of more than {LONGEST_LINE} bytes")


def is_meant(message: Mapping[str, Any]) -> bool:
    """Whether a message is a valid notification, request or response."""
    if isinstance(message.get("method"), str) or "result" in message:
        return True
    error = message.get("error")
    return isinstance(error, dict) and isinstance(error.get("code"), int) and isinstance(error.get("message"), str)


def raised(message: Dict[str, Any], method: str, binary: str, testing: bool) -> MintmarkError:
    """Returns the exception for a response with an `error`."""
    error = message["error"]
    data = error.get("data")
    data = data if isinstance(data, dict) else {}
    kind = data.get("type", "")
    known = BY_TYPE.get(kind, APIError)
    text = error.get("message", "")
    if known is MethodNotFoundError and method in METHODS:
        if method not in TESTING_METHODS or testing:
            return BinaryTooOldError(
                f"{binary} does not have the method {method}. It is older than this client for Mintmark {__version__}. "
                "Install a newer program, or set the path of another one with binary= or MINTMARK_BINARY.")
        text = f"{method} requires a testing store: mintmark.testing.TestingMintmark(), or Mintmark(…, testing=True)."
    return known(text, data, message.get("trace"), error.get("code"), kind, method)
