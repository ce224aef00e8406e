"""The constructor arguments of both clients, and the resulting command line."""

from __future__ import annotations

import copy
import os
import sys
from typing import TYPE_CHECKING, Any, Callable, List, Mapping, Optional, Sequence, Union

from ._errors import BinaryNotFoundError, BinaryTooOldError, MintmarkError, ProcessEndedError, ProtocolError
from ._hooks import Hook, checked
from ._record import seconds
from ._stderr import Destination
from .generated.contract import __version__
from .generated.options import OPTIONS, Options

if TYPE_CHECKING:
    from typing_extensions import Unpack

Path = Union[str, "os.PathLike[str]"]

MEMORY = ":memory:"
# The variables that name a store.
PLACES = ("MINTMARK_STORE", "MINTMARK_APP")

# The program in a wheel of a release.
BUNDLED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_program", "mintmark")


class ClientOptions(Options, total=False):
    """All keyword arguments of a client. `Settings` describes those that are not options of `mintmark serve`."""

    binary: Path | None
    timeout: float | None
    restart: bool | None
    on_notification: Callable[[str, Any], Any] | None
    before_create: Hook | None
    before_sign_in: Hook | None
    before_send_message: Hook | None
    stderr: Destination
    arguments: Sequence[str]
    environment: Mapping[str, str] | None


class Settings:
    """The constructor of both clients."""

    def __init__(
        self, store: Path | None = None, app: str | None = None, *, binary: Path | None = None, timeout: float | None = None,
        restart: bool | None = None, on_notification: Callable[[str, Any], Any] | None = None, stderr: Destination = "inherit",
        arguments: Sequence[str] = (), environment: Mapping[str, str] | None = None, before_create: Hook | None = None,
        before_sign_in: Hook | None = None, before_send_message: Hook | None = None, **options: Unpack[Options],
    ) -> None:
        """Exactly one of `store` and `app` is required.

        Args:
            store: The path of the database file, `":memory:"` for a store that is discarded when the process ends, or the URL of a
                PostgreSQL database. Without `store` and `app`, the variables `MINTMARK_STORE` and `MINTMARK_APP` name the store, as in
                the commands that `mintmark run` runs.
            app: The application whose store is used, in the user's data directory.
            binary: The program. Defaults to `MINTMARK_BINARY`, otherwise to the program in the wheel, otherwise to `mintmark` on the `PATH`.
            timeout: The time limit of calls, in seconds. By default, calls have no time limit.
            restart: Whether a call starts a new process if the previous one has ended. Defaults to true, unless the store is in memory.
            on_notification: Called with the method and the parameters of each notification. The parameters of a known notification have
                its type, such as `types.IdentityChange`.
            before_create: Called before an account is stored that a user creates, with a `HookRequest`. Like the next two, it returns a
                `HookAnswer` or `None`, or raises `HookRefused`, within 7 seconds. `m.hooks.set` switches hooks on for a tenant.
            before_sign_in: Called before a session is stored.
            before_send_message: Called before a message with a code is sent.
            stderr: The destination of the process's log: `"inherit"`, an open file, or `None` to discard it.
            arguments: Additional arguments of `mintmark serve`, passed unchanged.
            environment: Additional environment variables, such as `MINTMARK_MASTER_KEY`.
            options: The options of `mintmark serve`, which `mintmark.Options` describes.
        """
        flags = command_line({**options, "store": absolute(store), "app": app})
        named = [name for name in PLACES if os.environ.get(name)] if store is None and app is None else []
        if (store is None) == (app is None) and not named:
            raise ValueError(
                "name the data, by either store= or app=: Mintmark(store=\":memory:\") for data that ends with the process, "
                "Mintmark(store=\"shop.db\") for a file, Mintmark(app=\"shop\") for an application's own store"
            )
        self.timeout: float | None = time_limit(timeout)
        self.testing: bool = bool(options.get("testing"))
        self.binary: str = find_binary(binary)
        self.maximum_bytes: int = options.get("max_line_bytes") or 1_048_576
        place = os.environ.get("MINTMARK_STORE") if named else store
        self._in_memory = place is not None and os.fspath(place) == MEMORY
        self._restart = not self._in_memory if restart is None else restart
        self._on_notification = on_notification
        self._stderr = stderr
        self._hooks = checked(
            {"before_create": before_create, "before_sign_in": before_sign_in, "before_send_message": before_send_message})
        # The variables that name a store would take precedence over the options.
        inherited = {name: value for name, value in os.environ.items() if named or name not in PLACES}
        self.environment: Mapping[str, str] = {**inherited, **(environment or {})}
        self.command: List[str] = [self.binary, "serve", *flags, *arguments]
        self._has_parent = options.get("parent") is not None or any(each.startswith("--parent") for each in arguments)
        self._begin()

    def command_here(self) -> List[str]:
        """Returns the command line of a process that exits when this one does, even if another process holds its pipe.

        The command line contains the PID of this process, which differs in a forked child.
        """
        return self.command if self._has_parent or sys.platform != "linux" else [*self.command, f"--parent={os.getpid()}"]

    def __repr__(self) -> str:
        # Omits the environment and the options, which can contain secrets.
        return f"<{type(self).__name__} of {self.binary}>"

    def _check_restart(self, ended: MintmarkError) -> None:
        """Raises the reason the process has ended if it must not be replaced."""
        if self._restart:
            return
        if type(ended) is not ProcessEndedError:
            raise again(ended)
        why = "The store in memory is lost" if self._in_memory else "restart=False forbids a new process"
        raise ProcessEndedError(f"{ended} {why}. Create a new {type(self).__name__}.", ended.exit_status, ended.last_line)

    def _begin(self) -> None:
        """Initializes a client after its settings."""
        raise NotImplementedError


def command_line(options: Mapping[str, Any]) -> List[str]:
    """Converts options to arguments of `mintmark serve`.

    Raises:
        TypeError: If an option is unknown, or the value of a switch is not a Boolean.
    """
    line = []
    for name, value in options.items():
        if name not in OPTIONS:
            import difflib  # Loading it takes a few milliseconds.

            nearest = difflib.get_close_matches(name, OPTIONS, 1, 0.5)
            hint = f"Did you mean {nearest[0]}?" if nearest else "mintmark.Options lists the options."
            raise TypeError(f"unknown option {name!r}. {hint}")
        flag, kind = OPTIONS[name]
        if kind == "boolean":
            if value not in (None, True, False):
                raise TypeError(f"{name} must be True or False, not {value!r}")
            line += [flag] if value else []
        elif value is not None:
            line.append(f"{flag}={absolute(value) if kind == 'path' else seconds(value) if kind == 'time' else value}")
    return line


def absolute(store: Optional[Path]) -> Optional[str]:
    """Returns the absolute path of the store, so that a restart does not depend on the current directory."""
    if store is None:
        return None
    path = os.fspath(store)
    return path if path == MEMORY or "://" in path else os.path.abspath(path)


def time_limit(timeout: Optional[float]) -> Optional[float]:
    """Checks that a time limit is a positive number."""
    if timeout is not None and not (isinstance(timeout, (int, float)) and timeout > 0):
        kind = ValueError if isinstance(timeout, (int, float)) else TypeError
        raise kind(f"timeout is a positive number of seconds, or None for as long as it takes; not {timeout!r}")
    return timeout


def find_binary(named: Optional[Path]) -> str:
    """Returns the path of the program: the argument, otherwise `MINTMARK_BINARY`, the program in the wheel, or `mintmark` on the `PATH`."""
    variable = os.environ.get("MINTMARK_BINARY")
    if named is not None:
        wanted, source = os.fspath(named), ", which binary= names"
    elif variable:
        wanted, source = variable, ", which MINTMARK_BINARY names"
    elif os.path.exists(BUNDLED):
        wanted, source = BUNDLED, ", which the wheel contains"
    else:
        wanted, source = "mintmark", " on the PATH"
    if os.path.dirname(wanted):
        found = wanted if os.path.isfile(wanted) and os.access(wanted, os.X_OK) else None
    else:
        import shutil  # Loading it takes a few milliseconds.

        found = shutil.which(wanted)
    if found is None:
        trouble = f"There is no program {wanted}{source}."
        if os.path.dirname(wanted) and os.path.exists(wanted):
            trouble = f"{wanted}{source}, is {'a folder' if os.path.isdir(wanted) else 'not executable'}."
        raise BinaryNotFoundError(
            f"{trouble} Install Mintmark, or build it in its repository (clients/shell/mintmark --version creates .build/mintmark). "
            "Then set its path with binary= or MINTMARK_BINARY, or put it on the PATH."
        )
    return os.path.abspath(found)


def lost(binary: str, exit_status: Optional[int], last_line: Optional[str], is_stranger: bool = False) -> ProcessEndedError:
    """Returns the exception for calls whose process has ended. `is_stranger` means that it never responded."""
    how = "ended"
    if exit_status is not None:
        how = f"was ended by signal {-exit_status}" if exit_status < 0 else f"ended with status {exit_status}"
    text = f"The mintmark process {how} before it responded."
    if exit_status == 64:
        text += f" Its arguments are not valid: an option has a wrong value, or {binary} is older than this client."
    elif is_stranger and exit_status not in (2, 69, 74):
        text += f" Is {binary} the right program? Set another path with binary= or MINTMARK_BINARY."
    if last_line:
        text += f" Its last log line: {last_line}"
    return ProcessEndedError(text, exit_status, last_line)


def no_mintmark(binary: str, line: str) -> ProtocolError:
    """Returns the exception for calls whose process is not Mintmark."""
    return ProtocolError(
        f"{binary} does not respond like Mintmark: it wrote {line}. Is it the right program? "
        "Set another path with binary= or MINTMARK_BINARY.")


def too_old(binary: str, version: str) -> BinaryTooOldError:
    """Returns the exception for calls whose process is older than this client."""
    return BinaryTooOldError(
        f"{binary} is Mintmark {version}, which is older than this client for Mintmark {__version__}. "
        "Install a newer program, or set the path of another one with binary= or MINTMARK_BINARY.")


def again(error: MintmarkError) -> MintmarkError:
    """Returns a copy of an exception for another call, because each exception has its own traceback."""
    return copy.copy(error)
