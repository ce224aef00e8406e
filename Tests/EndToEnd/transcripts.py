"""Runs the transcripts of Tests/Transcripts, which contain requests and the expected responses.

    transcripts.py [--postgres] [FILE…]        --postgres: every store is a database of a PostgreSQL server that runs for this run only

    # a comment
    @ serve --clock 1700000000    options of the process, before the first request; --testing and the like
    @ store disk                  a store on disk, which `@ restart` keeps; otherwise the store is in memory
    @ restart --option            ends the process (its exit status must be 0) and restarts it
    > method {params}             a request; `$name` stands for a captured value, `${name}` for one inside a string
    * {"jsonrpc": …               a line of bytes to send unchanged, instead of a request
    < {members}                   the result: the given members are compared; `$name` captures the value at its first occurrence
    ! errorType {details}         an error of this type; details are compared with its data, "code" and "message" with the error itself
      …                           an indented line continues the previous line

`$_` is any value, `$storeKind` the kind of store on which the transcript runs. A list must have the same length; a last element "..." allows more.
"""

import json
import os
import re
import shlex
import sys
import tempfile

import postgres
from sidecar import ROOT, RpcError, Sidecar

FOLDER = os.path.join(ROOT, "Tests", "Transcripts")


class Failure(Exception):
    def __init__(self, entry, text):
        super().__init__(f"{os.path.relpath(entry.file, ROOT)}:{entry.line}: {entry.kind} {entry.text}\n    " + text.replace("\n", "\n    "))


class Entry:
    """A line of a transcript, with its continuation lines."""

    def __init__(self, file, line, kind, text):
        self.file, self.line, self.kind, self.text = file, line, kind, text


class Name:
    """A `$name` in the JSON of a transcript."""

    def __init__(self, name):
        self.name = name


def read(file):
    """Returns the entries of a transcript, in order."""
    entries = []
    with open(file, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = line.rstrip("\n")
            if not line.strip() or line.startswith("#"):
                continue
            if line[0].isspace() and entries:
                entries[-1].text += " " + line.strip()
            elif line[:2] in ("> ", "< ", "! ", "* ", "@ "):
                entries.append(Entry(file, number, line[0], line[2:].strip()))
            else:
                raise Failure(Entry(file, number, line[0], line), "a line begins with #, @, >, *, < or !")
    return entries


MARK = "\0name"


def parse(text):
    """Parses JSON in which `$name` stands for a value."""
    marked = re.sub(r'"(?:[^"\\]|\\.)*"|\$([A-Za-z_]\w*)', lambda m: json.dumps({MARK: m[1]}) if m[1] else m[0], text)
    return json.loads(marked, object_hook=lambda o: Name(o[MARK]) if MARK in o else o)


def fill(value, names):
    """Returns a value with its names replaced by the captured values."""
    if isinstance(value, Name):
        if value.name not in names:
            raise KeyError(f"${value.name} is not captured yet")
        return names[value.name]
    if isinstance(value, str):
        return re.sub(r"\$\{([A-Za-z_]\w*)\}", lambda m: str(fill(Name(m[1]), names)), value)
    if isinstance(value, list):
        return [fill(each, names) for each in value]
    if isinstance(value, dict):
        return {fill(key, names): fill(each, names) for key, each in value.items()}
    return value


def differences(wanted, found, names, path=""):
    """Returns the differences between `found` and `wanted`, one sentence each. Captures names at their first occurrence."""
    here = path or "the answer"
    if isinstance(wanted, Name):
        if wanted.name == "_":
            return []
        if wanted.name not in names:
            names[wanted.name] = found
            return []
        wanted = names[wanted.name]
    if isinstance(wanted, dict):
        if not isinstance(found, dict):
            return [f"{here}: an object was expected, found {show(found)}"]
        result = []
        for key, each in wanted.items():
            key = fill(key, names)
            if key not in found:
                result.append(f"{path}/{key}: expected {show(each)}, is absent")
            else:
                result += differences(each, found[key], names, f"{path}/{key}")
        return result
    if isinstance(wanted, list):
        more = bool(wanted) and wanted[-1] == "..."
        if more:
            wanted = wanted[:-1]
        if not isinstance(found, list):
            return [f"{here}: a list was expected, found {show(found)}"]
        if len(found) < len(wanted) or (len(found) > len(wanted) and not more):
            return [f"{here}: expected {len(wanted)} elements{' or more' if more else ''}, found {len(found)}: {show(found)}"]
        return [each for i in range(len(wanted)) for each in differences(wanted[i], found[i], names, f"{path}/{i}")]
    wanted = fill(wanted, names)
    same = wanted == found and isinstance(wanted, bool) == isinstance(found, bool)
    return [] if same else [f"{here}: expected {show(wanted)}, found {show(found)}"]


def show(value):
    if isinstance(value, Name):
        return "$" + value.name
    text = json.dumps(value, ensure_ascii=False, default=lambda each: "$" + each.name)
    return text if len(text) <= 400 else text[:400] + "…"


class Transcript:
    """A running transcript."""

    def __init__(self, file, server=None):
        self.file, self.names, self.sidecar, self.options, self.disk = file, {"storeKind": "memory"}, None, [], False
        self.server, self.database = server, None
        if server:
            self.names["storeKind"] = "postgres"
        self.folder = tempfile.TemporaryDirectory(prefix="mintmark-")

    def run(self):
        try:
            asked = None
            for entry in read(self.file):
                if entry.kind in ">*":
                    self.succeed(asked)
                    asked = entry
                    self.ask(entry)
                elif entry.kind in "<!":
                    if asked is None:
                        raise Failure(entry, "there is no request before this line")
                    self.compare(entry, self.answer(asked))
                    asked = None
                else:
                    self.succeed(asked)
                    asked = None
                    self.direct(entry)
            self.succeed(asked)
            self.end()
        finally:
            if self.sidecar:
                self.sidecar.close()
            self.folder.cleanup()

    def succeed(self, asked):
        """Checks that a request without an expectation succeeds."""
        if asked and isinstance(error := self.answer(asked), RpcError):
            raise Failure(asked, f"expected a result, found {error}")

    def direct(self, entry):
        word, *rest = shlex.split(entry.text)
        if word == "serve" and not self.sidecar:
            self.options = rest
        elif (word, rest) == ("store", ["disk"]) and not self.sidecar:
            self.disk = True
            self.names["storeKind"] = "postgres" if self.server else "sqlite"
        elif word == "restart":
            self.end(entry)
            if rest:
                self.options = rest
        else:
            raise Failure(entry, "a direction is: serve OPTIONS, store disk (both before the first request), restart [OPTIONS]")

    def end(self, entry=None):
        if self.sidecar:
            status = self.sidecar.finish()
            words = self.sidecar.stderr_text()[-400:]
            self.sidecar.close()
            self.sidecar = None
            if status != 0:
                raise Failure(entry or Entry(self.file, 0, "", "the end"), f"exit status {status} at the end of its input; it said: {words}")

    def ask(self, entry):
        if not self.sidecar:
            self.sidecar = self.spawn()
        try:
            if entry.kind == "*":
                self.sidecar.write(entry.text.encode() + b"\n")
                return
            method, _, params = entry.text.partition(" ")
            entry.id = self.sidecar.send(method, fill(parse(params), self.names) if params.strip() else None)
        except (ValueError, KeyError) as error:
            raise Failure(entry, f"cannot be sent: {error}") from None
        except BrokenPipeError:
            raise Failure(entry, f"the process has ended; its last words: {self.sidecar.stderr_text()[-400:]!r}") from None

    def spawn(self):
        if self.server:
            # A store in memory ends with the process, so each start uses a new database.
            self.database = self.database if self.disk and self.database else self.server.database()
            return self.server.sidecar(self.database, *self.options)
        return Sidecar(*self.options, store=os.path.join(self.folder.name, "store.db") if self.disk else ":memory:")

    def answer(self, entry):
        """Returns the result of a request, or its `RpcError`."""
        try:
            if entry.kind == "*":
                message = self.sidecar.receive()
                if "error" in message:
                    raise RpcError(message["error"])
                return message["result"]
            return self.sidecar.answer(entry.id)
        except RpcError as error:
            return error
        except Exception as error:
            raise Failure(entry, str(error)) from None

    def compare(self, entry, answer):
        try:
            if entry.kind == "<":
                if isinstance(answer, RpcError):
                    raise Failure(entry, f"expected a result, found {answer}")
                wrong, found = differences(parse(entry.text), answer, self.names), answer
            else:
                kind, _, details = entry.text.partition(" ")
                if not isinstance(answer, RpcError):
                    raise Failure(entry, f"expected {kind}, found the result {show(answer)}")
                found = {**answer.data, "code": answer.code, "message": answer.message}
                wrong = differences({"type": kind, **(parse(details) if details.strip() else {})}, found, self.names)
        except (ValueError, KeyError) as error:
            raise Failure(entry, f"cannot be compared: {error}") from None
        if wrong:
            raise Failure(entry, "\n".join(wrong) + f"\nanswered: {show(found)}")


def main(arguments):
    server = postgres.Server() if "--postgres" in arguments else None
    try:
        return run([each for each in arguments if each != "--postgres"], server)
    finally:
        if server:
            server.close()


def run(files, server):
    files = files or sorted(os.path.join(FOLDER, name) for name in os.listdir(FOLDER) if name.endswith(".txt"))
    failed = 0
    for file in files:
        try:
            Transcript(os.path.realpath(file), server).run()
            print(f"ok      {os.path.relpath(file, ROOT)}")
        except Exception as failure:  # An error in one transcript must not hide the others.
            failed += 1
            print(f"FAILED  {failure if isinstance(failure, Failure) else f'{os.path.relpath(file, ROOT)}: {type(failure).__name__}: {failure}'}")
    print(f"{len(files) - failed} passed, {failed} failed")
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
