"""What both clients are constructed with, and the command line that follows from it."""

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
        """Exactly one of `store` and `app` says where the data lives.

        Args:
            store: A file, or `":memory:"` for a store that ends with the process.
            app: The application whose store is used, in the user's data folder.
            testing: Use a testing store, whose clock can be turned.
            binary: The program; else `MINTMARK_BINARY`, else `mintmark` on the `PATH`.
            timeout: Seconds that calls wait for their answers; without it, as long as it takes.
            restart: Whether a call after the end of the process starts a new one. It does, unless the store was in memory: that is gone.
            on_notification: Called with the method and the params of each notification, such as `credentialsProvider/identityChanged`.
            stderr: Where the log of the process goes: `"inherit"`, an open file, or `None` for nowhere.
            issuer: The base of every issuer; an https URL.
            region: The first part of pool and identity ids.
            account: The account number in ARNs.
            master_key_file: A file with the master key.
            caller: `developer`, or `public` for only what proves itself by tokens.
            clock: Where a new testing store's clock stands, in seconds since 1970.
            audit_issuance: Whether to audit tokens that are minted for known identities.
            audit_heads_file: The path of a file to which the heads of the audit log are appended.
            migrate: Whether an older store is brought up to date: `auto` or `never`.
            log_level: The least level that is logged, from `trace` to `critical`.
            sequential: Run requests strictly one after the other.
            drain: Seconds that SIGTERM waits for what is in flight.
            max_line: The longest line that is sent, in bytes.
            parent: End when the process with this id is gone; without it this process, 0 for none.
            apply: Make the store be as this document declares before serving: see `system.apply`.
            audit_retention_days: Remove audit records that are older.
            db_connections: How many connections to a PostgreSQL server may be open at once.
            ca_file: A file of certificates (PEM) that are trusted beside the system's own when login providers are asked.
            proxy: The proxy by which login providers are asked.
            smtp_url: The mail server, such as `smtp://mail.example.com:587` (STARTTLS) or `smtps://mail.example.com`.
            mail_from: The address that mails come from.
            smtp_user: Who logs in to the mail server, with the password in a file or as `MINTMARK_SMTP_PASSWORD` in `environment`.
            smtp_password_file: A file with that password.
            smtp_unencrypted: Speak to the mail server without TLS; on a loopback address only.
            webhook_url: Where text messages, and mails if there is no mail server, are posted to.
            webhook_secret_file: A file with the secret that posts are signed with; or `MINTMARK_WEBHOOK_SECRET` in `environment`.
            trace_file: A file that every message is written to, both ways and without secrets.
            arguments: More arguments of `mintmark serve`, as they are.
            environment: More environment variables, such as `MINTMARK_MASTER_KEY`.
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
        """The command line for a process that ends with this one, whoever else holds its pipe. A forked child has another id."""
        return self.command if self._has_parent or sys.platform != "linux" else [*self.command, f"--parent={os.getpid()}"]

    def __repr__(self) -> str:
        # Neither the environment nor the options, which may hold secrets.
        return f"<{type(self).__name__} of {self.binary}>"

    def _check_restart(self, ended: MintmarkError) -> None:
        """Raises how a process ended that is not to be replaced."""
        if self._restart:
            return
        if type(ended) is not ConnectionLost:
            raise again(ended)
        why = "Its store was in memory and is gone" if self._in_memory else "restart=False forbids a new one"
        raise ConnectionLost(f"{ended} {why}: make a new {type(self).__name__}.", ended.exit_status, ended.last_line)

    def _begin(self) -> None:
        """What a client does once it is configured."""
        raise NotImplementedError


def command(
    binary: str, options: Sequence[Tuple[str, Union[str, int, None]]], flags: Sequence[Tuple[str, bool]], more: Sequence[str]
) -> List[str]:
    """The command line."""
    line = [binary, "serve"]
    for name, value in options:
        if value is not None:
            line.append(f"{name}={value}")
    return line + [name for name, given in flags if given] + list(more)


def absolute(store: Optional[Path]) -> Optional[str]:
    """The store by a name that does not depend on the current folder, which may be another one at a restart."""
    if store is None:
        return None
    path = os.fspath(store)
    return path if path == MEMORY or "://" in path else os.path.abspath(path)


def time_limit(timeout: Optional[float]) -> Optional[float]:
    """A time limit that can be one."""
    if timeout is not None and not (isinstance(timeout, (int, float)) and timeout > 0):
        raise (ValueError if isinstance(timeout, (int, float)) else TypeError)(f"timeout is a positive number of seconds, or None for as long as it takes; not {timeout!r}")
    return timeout


def find_binary(named: Optional[Path]) -> str:
    """The program to run: the argument, else `MINTMARK_BINARY`, else `mintmark` on the `PATH`."""
    variable = os.environ.get("MINTMARK_BINARY")
    if named is not None:
        wanted, source = os.fspath(named), ", which binary= names"
    elif variable:
        wanted, source = variable, ", which MINTMARK_BINARY names"
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
    """The exception for calls whose process ended; `is_stranger` where it never answered anything."""
    how = "ended"
    if exit_status is not None:
        how = f"was ended by signal {-exit_status}" if exit_status < 0 else f"ended with status {exit_status}"
    text = f"The mintmark process {how} before it answered."
    if exit_status == 64:
        text += f" It refused its arguments: is {binary} older than this client?"
    elif is_stranger and exit_status not in (2, 74):
        text += f" Is {binary} the right program? Name another with binary= or MINTMARK_BINARY."
    if last_line:
        text += f" Its last words: {last_line}"
    return ConnectionLost(text, exit_status, last_line)


def no_mintmark(binary: str, line: str) -> ProtocolError:
    """The exception for calls whose process is not Mintmark."""
    return ProtocolError(f"{binary} does not answer as Mintmark does: it wrote {line}. Is it the right program? Name another with binary= or MINTMARK_BINARY.")


def too_old(binary: str, version: str) -> BinaryTooOld:
    """The exception for calls whose process is older than this client."""
    return BinaryTooOld(
        f"The binary {binary} is Mintmark {version}, older than this client, which was made for {__version__}. "
        "Install the mintmark this client came with, and name it with binary= or MINTMARK_BINARY.", {"type": BinaryTooOld.type})


def again(error: MintmarkError) -> MintmarkError:
    """The same once more, for another call: an exception belongs to the call that raises it."""
    return copy.copy(error)
