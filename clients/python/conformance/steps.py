"""Functions of both drivers: names, values without a JSON form, and errors in the form of ../../conformance/README.md."""

import asyncio
import datetime
import keyword
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir, "src"))

import mintmark  # noqa: E402
import mintmark.testing  # noqa: E402
from mintmark._record import Record  # noqa: E402
from mintmark.generated.contract import METHODS  # noqa: E402


class Cancelled(BaseException):
    """Cancels a call. Like KeyboardInterrupt, it is raised in the main thread by a signal."""


class Down(Exception):
    """The error that the simulated backend raises."""


KINDS = [
    (mintmark.BinaryTooOldError, "tooOld"), (mintmark.APIError, "answered"), (mintmark.BinaryNotFoundError, "notFound"),
    (mintmark.ProtocolError, "garbage"), (mintmark.ProcessEndedError, "ended"), (mintmark.CallTimeoutError, "timedOut"),
    (mintmark.ClientClosedError, "closed"), ((Cancelled, asyncio.CancelledError), "cancelled"), (Down, "own"), ((ValueError, TypeError), "refused"),
]


def snake(name):
    return re.sub(r"(?<=[^A-Z_])([A-Z])", r"_\1", name).lower()


def camel(name):
    return re.sub(r"_(.)", lambda match: match[1].upper(), name)


def own(name):
    """The name of a method or argument. Python keywords end with an underscore."""
    return name + "_" * keyword.iskeyword(name)


def arguments(params):
    """Converts parameters to the keyword arguments of a method."""
    return {own(snake(name)): value for name, value in params.items()}


def options(step):
    known = {"store": "store", "app": "app", "testing": "testing", "binary": "binary", "arguments": "arguments", "restart": "restart",
             "timeoutSeconds": "timeout"}
    return {known[name]: value for name, value in step.items() if name in known}


SNAKE = {"beforeCreate": "before_create", "beforeSignIn": "before_sign_in", "beforeSendMessage": "before_send_message"}


def decided(behavior, request):
    """Returns what a hook of this behavior returns, unless it calls the client."""
    if behavior == "refuses":
        raise mintmark.HookRefused("not on the list")
    if behavior == "fails":
        raise Down("the directory is down")
    if behavior != "changes":
        return None
    return mintmark.HookAnswer(
        display_name="Hooked", photo_url="https://example.com/hooked.png", email_verified=True, claims={"role": "staff"}, session_claims={"desk": 7})


def client_class(step, production, testing):
    """Returns the class of a client: that for testing stores, which has the methods `test.*`, if the step names a testing store."""
    return testing if step.get("testing") and ("store" in step or "app" in step) else production


def typed(client, method):
    """Returns the typed method of a name."""
    namespace, verb = method.split(".")
    return getattr(getattr(client, snake(namespace)), own(snake(verb)))


def called(client, step):
    """Calls the typed method if it accepts these parameters, and otherwise the method by its name."""
    method, params = step["method"], step.get("params") or {}
    more = {"timeout": step.get("timeoutSeconds"), "trace": step.get("trace")}
    if method in METHODS and hasattr(client, snake(method.split(".")[0])) and None not in params.values() and all(camel(snake(name)) == name for name in params):
        try:
            return typed(client, method)(**arguments(params), **more)
        except TypeError as error:
            if "argument" not in str(error):
                raise
    return client.call(method, params, **more)


def plain(found):
    """Converts a result to JSON with all its members."""
    return found.to_dict() if isinstance(found, Record) else found


def strange(client, step):
    """Makes a call with a value that has no JSON form."""
    cycle, deep = {}, []
    cycle["itself"] = cycle
    for _ in range(70):
        deep = [deep]
    value = {"nan": float("nan"), "infinity": float("inf"), "cycle": cycle, "surrogate": "\ud800", "date": datetime.datetime.now(),
             "function": print, "bytes": b"\xff", "set": {1, 2}, "bigint": 2**70, "deep": deep}[step["value"]]
    return client.call("account.setClaims", {"accountId": "a", "claims": {"value": value}})


def described(error):
    """Converts an error to the outcome of a step."""
    kind = next((kind for classes, kind in KINDS if isinstance(error, classes)), None)
    if kind is None:
        return {"fault": f"{type(error).__name__}: {error}"}
    details = {name: getattr(error, name) for name in ("code", "type", "data", "trace") if hasattr(error, name)}
    return {"error": {"kind": kind, "class": type(error).__name__.removesuffix("Error"), "message": str(error), **details}}
