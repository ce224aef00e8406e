"""The constructor arguments of both clients, and the resulting command line."""

import copy
import os
import shutil
import sys
from typing import Any, Callable, List, Mapping, Optional, Sequence, Tuple, Union

from ._errors import BinaryNotFound, ConnectionLost, MintmarkError, ProtocolError
from ._stderr import Destination
from .errors import BinaryTooOld
from .generated.contract import __version__

Path = Union[str, "os.PathLike[str]"]

MEMORY = ":memory:"

# The program in a wheel of a release.
BUNDLED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_program", "mintmark")


class Settings:
    """The constructor of both clients."""

    def __init__(
        self,
        store: Optional[Path] = None,
        app: Optional[str] = None,
        testing: bool = False,
        binary: Optional[Path] = None,
        *,
        timeout: Optional[float] = None,
        restart: Optional[bool] = None,
        on_notification: Optional[Callable[[str, Any], Any]] = None,
        stderr: Destination = "inherit",
        issuer: Optional[str] = None,
        region: Optional[str] = None,
        account: Optional[str] = None,
        master_key_file: Optional[Path] = None,
        caller: Optional[str] = None,
        clock: Optional[int] = None,
        audit_issuance: bool = False,
        audit_heads_file: Optional[str] = None,
        migrate: Optional[str] = None,
        log_level: Optional[str] = None,
        sequential: bool = False,
        drain: Optional[int] = None,
        max_line: Optional[int] = None,
        parent: Optional[int] = None,
        apply: Optional[Path] = None,
        audit_retention_days: Optional[int] = None,
        db_connections: Optional[int] = None,
        ca_file: Optional[Path] = None,
        proxy: Optional[str] = None,
        smtp_url: Optional[str] = None,
        mail_from: Optional[str] = None,
        smtp_user: Optional[str] = None,
        smtp_password_file: Optional[Path] = None,
        smtp_unencrypted: bool = False,
        webhook_url: Optional[str] = None,
        webhook_secret_file: Optional[Path] = None,
        trace_file: Optional[Path] = None,
        arguments: Sequence[str] = (),
        environment: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Exactly one of `store` and `app` is required.

        Args:
            store: The path of the database file, or `":memory:"` for a store that is discarded when the process ends.
            app: The application whose store is used, in the user's data directory.
            testing: Whether to use a testing store, which has a virtual clock.
            binary: The program. Defaults to `MINTMARK_BINARY`, otherwise to the program in the wheel, otherwise to `mintmark` on the `PATH`.
            timeout: The time limit of calls, in seconds. By default, calls have no time limit.
            restart: Whether a call starts a new process if the previous one has ended. Defaults to true, unless the store is in memory.
            on_notification: Called with the method and the params of each notification, such as `credentialsProvider/identityChanged`.
            stderr: The destination of the process's log: `"inherit"`, an open file, or `None` to discard it.
            issuer: The base URL of all issuers; must be an https URL.
            region: The first part of pool and identity IDs.
            account: The account number in ARNs.
            master_key_file: The file with the master key.
            caller: The access level: `developer`, or `public` for only the methods that require a token of the user.
            clock: The virtual clock of a new testing store, in seconds since 1970-01-01 UTC.
            audit_issuance: Whether to record tokens minted for existing identities in the audit log.
            audit_heads_file: The file to which the heads of the audit log are appended.
            migrate: Whether to migrate the tables of an older store: `auto` or `never`.
            log_level: The minimum level of log records, from `trace` to `critical`.
            sequential: Whether to run requests strictly one after the other.
            drain: The time that SIGTERM waits for requests in flight, in seconds.
            max_line: The maximum size of a request, in bytes.
            parent: The PID of the process with which Mintmark exits. Defaults to this process; 0 for none.
            apply: The configuration document that the store must match before it serves requests: see `system.apply`.
            audit_retention_days: The retention of audit records, in days.
            db_connections: The maximum number of open connections to a PostgreSQL server.
            ca_file: The file with certificates (PEM) that are trusted for identity providers, in addition to the system's certificates.
            proxy: The HTTP proxy for requests to identity providers.
            smtp_url: The mail server, such as `smtp://mail.example.com:587` (STARTTLS) or `smtps://mail.example.com`.
            mail_from: The sender address of emails.
            smtp_user: The user name for the mail server. The password is in a file, or in `MINTMARK_SMTP_PASSWORD` in `environment`.
            smtp_password_file: The file with the password for the mail server.
            smtp_unencrypted: Whether to connect to the mail server without TLS; allowed only for loopback addresses.
            webhook_url: The URL to which text messages are posted, and emails if no mail server is set.
            webhook_secret_file: The file with the secret that signs the posted messages; or `MINTMARK_WEBHOOK_SECRET` in `environment`.
            trace_file: The file to which all requests and responses are written, without secrets.
            arguments: Additional arguments of `mintmark serve`, passed unchanged.
            environment: Additional environment variables, such as `MINTMARK_MASTER_KEY`.
        """
        if (store is None) == (app is None):
            raise ValueError(
                "name the data, by either store= or app=: Mintmark(store=\":memory:\") for data that ends with the process, "
                "Mintmark(store=\"shop.db\") for a file, Mintmark(app=\"shop\") for an application's own store"
            )
        self.timeout = time_limit(timeout)
        self.testing = testing
        self.binary = find_binary(binary)
        self.maximum_bytes = 1_048_576 if max_line is None else max_line
        self._in_memory = store is not None and os.fspath(store) == MEMORY
        self._restart = not self._in_memory if restart is None else restart
        self._on_notification = on_notification
        self._stderr = stderr
        self.environment = {**os.environ, **(environment or {})}
        options = [
            ("--store", absolute(store)), ("--app", app), ("--issuer", issuer), ("--region", region), ("--account", account),
            ("--master-key-file", None if master_key_file is None else os.path.abspath(master_key_file)), ("--caller", caller),
            ("--clock", clock), ("--migrate", migrate), ("--log-level", log_level), ("--drain", drain), ("--max-line", max_line),
            ("--parent", parent), ("--apply", absolute(apply)), ("--audit-retention-days", audit_retention_days),
            ("--db-connections", db_connections), ("--ca-file", absolute(ca_file)), ("--proxy", proxy),
            ("--smtp-url", smtp_url), ("--mail-from", mail_from), ("--smtp-user", smtp_user),
            ("--smtp-password-file", absolute(smtp_password_file)), ("--webhook-url", webhook_url),
            ("--webhook-secret-file", absolute(webhook_secret_file)), ("--trace-file", absolute(trace_file)),
            ("--audit-heads-file", absolute(audit_heads_file)),
        ]
        flags = [("--testing", testing), ("--audit-issuance", audit_issuance), ("--sequential", sequential),
                 ("--smtp-unencrypted", smtp_unencrypted)]
        self.command = command(self.binary, options, flags, arguments)
        self._has_parent = parent is not None or any(each.startswith("--parent") for each in arguments)
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
        if type(ended) is not ConnectionLost:
            raise again(ended)
        why = "Its store was in memory and is gone" if self._in_memory else "restart=False forbids a new one"
        raise ConnectionLost(f"{ended} {why}: make a new {type(self).__name__}.", ended.exit_status, ended.last_line)

    def _begin(self) -> None:
        """Initializes a client after its settings."""
        raise NotImplementedError


def command(
    binary: str, options: Sequence[Tuple[str, Union[str, int, None]]], flags: Sequence[Tuple[str, bool]], more: Sequence[str]
) -> List[str]:
    """Returns the command line."""
    line = [binary, "serve"]
    for name, value in options:
        if value is not None:
            line.append(f"{name}={value}")
    return line + [name for name, given in flags if given] + list(more)


def absolute(store: Optional[Path]) -> Optional[str]:
    """Returns the absolute path of the store, so that a restart does not depend on the current directory."""
    if store is None:
        return None
    path = os.fspath(store)
    return path if path == MEMORY or "://" in path else os.path.abspath(path)


def time_limit(timeout: Optional[float]) -> Optional[float]:
    """Checks that a time limit is a positive number."""
    if timeout is not None and not (isinstance(timeout, (int, float)) and timeout > 0):
        raise (ValueError if isinstance(timeout, (int, float)) else TypeError)(f"timeout is a positive number of seconds, or None for as long as it takes; not {timeout!r}")
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
    found = shutil.which(wanted)
    if found is None:
        trouble = f"There is no program {wanted}{source}."
        if os.path.dirname(wanted) and os.path.exists(wanted):
            trouble = f"{wanted}{source}, is {'a folder' if os.path.isdir(wanted) else 'no program that may be run'}."
        raise BinaryNotFound(
            f"{trouble} Build it in Mintmark's repository: `clients/shell/mintmark --version` makes .build/mintmark, "
            "`swift build -c release --product mintmark` makes .build/release/mintmark. Then pass its path as binary=, set MINTMARK_BINARY to it "
            "(export MINTMARK_BINARY=$PWD/.build/mintmark), or put it on the PATH."
        )
    return os.path.abspath(found)


def lost(binary: str, exit_status: Optional[int], last_line: Optional[str], is_stranger: bool = False) -> ConnectionLost:
    """Returns the exception for calls whose process has ended. `is_stranger` means that it never responded."""
    how = "ended"
    if exit_status is not None:
        how = f"was ended by signal {-exit_status}" if exit_status < 0 else f"ended with status {exit_status}"
    text = f"The mintmark process {how} before it answered."
    if exit_status == 64:
        text += f" It refused its arguments: is {binary} older than this client?"
    elif is_stranger and exit_status not in (2, 69, 74):
        text += f" Is {binary} the right program? Name another with binary= or MINTMARK_BINARY."
    if last_line:
        text += f" Its last words: {last_line}"
    return ConnectionLost(text, exit_status, last_line)


def no_mintmark(binary: str, line: str) -> ProtocolError:
    """Returns the exception for calls whose process is not Mintmark."""
    return ProtocolError(f"{binary} does not answer as Mintmark does: it wrote {line}. Is it the right program? Name another with binary= or MINTMARK_BINARY.")


def too_old(binary: str, version: str) -> BinaryTooOld:
    """Returns the exception for calls whose process is older than this client."""
    return BinaryTooOld(
        f"The binary {binary} is Mintmark {version}, older than this client, which was made for {__version__}. "
        "Install the mintmark this client came with, and name it with binary= or MINTMARK_BINARY.", {"type": BinaryTooOld.type})


def again(error: MintmarkError) -> MintmarkError:
    """Returns a copy of an exception for another call, because each exception has its own traceback."""
    return copy.copy(error)
