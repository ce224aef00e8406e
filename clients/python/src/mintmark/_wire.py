"""JSON-RPC 2.0, one message per line: requests into bytes, bytes into messages, errors into exceptions."""

import json
from typing import Any, Dict, List, Mapping, Optional

from ._errors import AnsweredError
from ._record import plain
from .errors import BinaryTooOld, InvalidRequest, MethodNotFound
from .generated.contract import METHODS, TESTING_METHODS
from .generated.errors import BY_TYPE

# JSON nested deeper is refused by the process, which then cannot say whose request it was.
MAXIMUM_DEPTH = 64


def request_line(
    id: int, method: str, params: Mapping[str, Any], trace: Optional[str], maximum_bytes: int
) -> bytes:
    """One request. What the process could not attribute to it is refused here.

    Raises:
        InvalidRequest: the line is too long, or nests too deep.
        ValueError, TypeError: a value has no JSON: NaN, a lone surrogate, a foreign object.
    """
    envelope: Dict[str, Any] = {"jsonrpc": "2.0", "id": id, "method": method}
    given = {name: plain(value) for name, value in params.items() if value is not None}
    if given:
        envelope["params"] = given
    if trace is not None:
        envelope["trace"] = trace
    line = json.dumps(envelope, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    if len(line) > maximum_bytes:
        raise refused(f"a line of {len(line)} bytes is longer than the {maximum_bytes} of max_line")
    if line.count(b"{") + line.count(b"[") > MAXIMUM_DEPTH and depth(envelope) > MAXIMUM_DEPTH:
        raise refused(f"it nests deeper than {MAXIMUM_DEPTH}")
    return line + b"\n"


def cancel_line(id: int) -> bytes:
    """The notification that cancels a request."""
    return b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%d}}\n' % id


def refused(reason: str) -> InvalidRequest:
    return InvalidRequest(f"This request cannot be sent: {reason}.", {"type": InvalidRequest.type, "reason": reason})


def depth(value: Any) -> int:
    """How deep the arrays and objects of `value` nest."""
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


class Lines:
    """Cuts what arrives into messages."""

    def __init__(self) -> None:
        self._rest: List[bytes] = []

    def messages(self, block: bytes) -> List[Dict[str, Any]]:
        """The messages that `block` completes. What is no message is passed over."""
        *lines, rest = block.split(b"\n")
        if lines:
            lines[0] = b"".join([*self._rest, lines[0]])
            self._rest = []
        if rest:
            self._rest.append(rest)
        found: List[Dict[str, Any]] = []
        for line in lines:
            try:
                message = json.loads(line)
            except ValueError:
                continue
            found += [each for each in (message if isinstance(message, list) else [message]) if isinstance(each, dict)]
        return found


def raised(message: Dict[str, Any], method: Optional[str], binary: str, testing: bool) -> AnsweredError:
    """The exception for an answer that has an `error`."""
    error = message["error"]
    data = error.get("data")
    data = data if isinstance(data, dict) else {}
    kind = data.get("type", "")
    known = BY_TYPE.get(kind, AnsweredError)
    text = error.get("message", "")
    if known is MethodNotFound and method in METHODS:
        if method not in TESTING_METHODS:
            known = BinaryTooOld
            text = (
                f"The binary {binary} does not know {method}: it is older than this client. "
                "Install the mintmark this client came with, and name it with binary= or MINTMARK_BINARY."
            )
        elif not testing:
            text = f"{method} is only there in testing: Mintmark(…, testing=True), or mintmark.testing()."
    return known(text, data, message.get("trace"), error.get("code"), kind)
