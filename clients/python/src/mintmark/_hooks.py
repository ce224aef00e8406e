"""Hooks: functions of the application that decide about accounts, sessions and messages before they are stored or sent."""

from __future__ import annotations

import threading
from typing import Any, Awaitable, Callable, Dict, List, Mapping, Optional, Tuple, Union

from ._errors import MintmarkError
from ._record import plain
from ._wire import WRITER
from .generated.types import Account

# The hooks by the name of their argument.
NAMES = {"before_create": "beforeCreate", "before_sign_in": "beforeSignIn", "before_send_message": "beforeSendMessage"}


class HookRefused(MintmarkError):
    """Raise it in a hook to refuse the operation. The caller gets `RefusedByHookError` with the reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason: str = reason


class HookRequest:
    """The question to a hook. Members that the hook does not have are `None`."""

    def __init__(self, hook: str, params: Dict[str, Any]) -> None:
        self.hook: str = hook
        """The name of the hook, such as `beforeSignIn`."""
        self.params: Dict[str, Any] = params
        """The whole question as JSON."""

    @property
    def tenant_id(self) -> str:
        """The tenant of the account or message."""
        return str(self.params.get("tenantId"))

    @property
    def account(self) -> Optional[Account]:
        """The account as it will be stored."""
        found = self.params.get("account")
        return Account.from_dict(found) if isinstance(found, dict) else None

    @property
    def method(self) -> Optional[str]:
        """The method that asks, such as `signIn.withPassword`."""
        return self.params.get("method")

    @property
    def provider(self) -> Optional[str]:
        """How the user signs in: `password`, `code`, `passkey`, `anonymous`, `custom`, or the ID of an identity provider."""
        return self.params.get("provider")

    @property
    def amr(self) -> List[str]:
        """The authentication methods of the session."""
        return list(self.params.get("amr") or [])

    @property
    def is_new_account(self) -> bool:
        """Whether the sign-in completes a sign-up or creates the account."""
        return bool(self.params.get("isNewAccount"))

    @property
    def second_factor(self) -> Optional[str]:
        """The kind of the second factor that was verified."""
        return self.params.get("secondFactor")

    @property
    def message(self) -> Dict[str, Any]:
        """The message, for `before_send_message`: `channel`, `to`, `purpose`, `language` and `secondFactor`."""
        return dict(self.params.get("message") or {})

    def __repr__(self) -> str:
        return f"<HookRequest {self.hook} of {self.tenant_id}>"


class HookAnswer:
    """What a hook changes. Arguments that are omitted change nothing.

    Args:
        display_name: The new display name.
        photo_url: The URL of the new picture.
        email_verified: Whether the email address of the account is verified.
        claims: The new custom claims of the account, which replace the present ones.
        session_claims: Claims that only the tokens of this session contain. Only for `before_sign_in`.
        disabled: `True` stores the account as disabled, and the operation fails with `AccountDisabledError`.
    """

    def __init__(
        self, *, display_name: Optional[str] = None, claims: Optional[Mapping[str, Any]] = None,
        session_claims: Optional[Mapping[str, Any]] = None, disabled: Optional[bool] = None, photo_url: Optional[str] = None,
        email_verified: Optional[bool] = None,
    ) -> None:
        given = {
            "displayName": display_name, "photoUrl": photo_url, "emailVerified": email_verified, "claims": claims,
            "sessionClaims": session_claims, "disabled": disabled}
        self.json: Dict[str, Any] = {name: plain(value) for name, value in given.items() if value is not None}


Answer = Union[HookAnswer, Mapping[str, Any], None]
"""A `HookAnswer`, or its JSON, or `None` to allow the operation without a change."""

Hook = Callable[[HookRequest], Union[Answer, Awaitable[Answer]]]


def checked(given: Mapping[str, Optional[Hook]]) -> Dict[str, Hook]:
    """Returns the functions by the name of their hook. Raises `TypeError` for a value that is not a function."""
    hooks: Dict[str, Hook] = {}
    for name, hook in given.items():
        if hook is None:
            continue
        if not callable(hook):
            raise TypeError(f"{name} is a function of one HookRequest, not a {type(hook).__name__}")
        hooks[NAMES[name]] = hook
    return hooks


def line(id: Any, outcome: Dict[str, Any]) -> bytes:
    """Encodes the response to a request of the process."""
    try:
        return WRITER.encode({"jsonrpc": "2.0", "id": id, **outcome}).encode() + b"\n"
    except (TypeError, ValueError, RecursionError) as error:
        return line(id, failure(f"the answer of the hook has no JSON: {error}"))


def failure(words: str) -> Dict[str, Any]:
    return {"error": {"code": -32603, "message": words}}


def answer_of(found: Any) -> Dict[str, Any]:
    """Returns the outcome for what a hook has returned."""
    if isinstance(found, HookAnswer):
        return {"result": found.json}
    if found is None or isinstance(found, Mapping):
        return {"result": None if found is None else plain(dict(found))}
    return failure(f"a hook returns a HookAnswer, a dict or None, not a {type(found).__name__}")


def outcome_of(error: BaseException) -> Dict[str, Any]:
    """Returns the outcome for an exception of a hook. Only `HookRefused` refuses; any other exception makes the operation fail."""
    if isinstance(error, HookRefused):
        return {"result": {"refuse": error.reason}}
    return failure(f"{type(error).__name__}: {error}")


def begun(hooks: Mapping[str, Hook], message: Mapping[str, Any]) -> Tuple[Optional[Hook], HookRequest]:
    """Returns the function for a request of the process, and its argument."""
    name = str(message.get("method")).rpartition("hook/")[2]
    params = message.get("params")
    return hooks.get(name), HookRequest(name, params if isinstance(params, dict) else {})


def answer_in_thread(hooks: Mapping[str, Hook], message: Mapping[str, Any], send: Callable[[bytes], Any]) -> None:
    """Answers a request of the process in a thread of its own, so that a hook can call the client and take its time."""

    def run() -> None:
        hook, request = begun(hooks, message)
        try:
            found = None if hook is None else hook(request)
            if hasattr(found, "__await__"):
                getattr(found, "close", lambda: None)()
                raise TypeError("a coroutine function is a hook of AsyncMintmark only")
            outcome = unknown(message) if hook is None else answer_of(found)
        except Exception as error:
            outcome = outcome_of(error)
        try:
            send(line(message.get("id"), outcome))
        except OSError:
            pass  # The process has ended, so no operation waits.

    threading.Thread(target=run, name="mintmark-hook", daemon=True).start()


def unknown(message: Mapping[str, Any]) -> Dict[str, Any]:
    return {"error": {"code": -32601, "message": f"This client has no function for {message.get('method')}."}}
