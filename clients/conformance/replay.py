"""Runs a transcript, in the format of Tests/EndToEnd/transcripts.py, through a client."""

import json
import os
import shlex
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "Tests", "EndToEnd"))

import transcripts  # noqa: E402
from driver import Problem, show  # noqa: E402

FOLDERS = [os.path.join(HERE, "transcripts"), os.path.join(ROOT, "Tests", "Transcripts")]


def files():
    """Returns all transcripts, those of the clients first."""
    return [os.path.join(folder, name) for folder in FOLDERS for name in sorted(os.listdir(folder)) if name.endswith(".txt")]


def title(file):
    """Returns the title of a transcript: its first comment."""
    with open(file, encoding="utf-8") as lines:
        return f"{os.path.basename(file)[:-4]}: {next(lines).lstrip('# ').strip()}"


def once(pairs):
    """Returns an object. Fails if a name occurs twice."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a member twice")
    return dict(pairs)


def request(entry):
    """Returns the request in a line of bytes, or None if no client could send it."""
    try:
        message = json.loads(entry.text, object_pairs_hook=once)
    except ValueError:
        return None
    members = {"jsonrpc", "id", "method", "params", "trace"}
    is_request = isinstance(message, dict) and members >= message.keys() and message.get("jsonrpc") == "2.0" and {"id", "method"} <= message.keys()
    return message if is_request else None


class Replay:
    """Runs one transcript. Lines of bytes that are not requests are skipped, because no client sends them."""

    def __init__(self, driver, file):
        self.driver, self.file, self.names = driver, file, {"storeKind": "memory"}
        self.client, self.arguments, self.store = None, [], ":memory:"

    def run(self):
        asked = None
        for entry in transcripts.read(self.file):
            if entry.kind in "<!":
                if asked is not None:
                    self.compare(entry, self.answer(asked))
                asked = None
                continue
            if asked is not None:
                self.succeed(asked)
            asked = None
            if entry.kind == ">" or (entry.kind == "*" and request(entry)):
                asked = entry
            elif entry.kind == "@":
                self.direct(entry)
        if asked is not None:
            self.succeed(asked)
        self.end()

    def direct(self, entry):
        word, *rest = shlex.split(entry.text)
        if word == "store":
            self.store, self.names["storeKind"] = os.path.join(self.driver.folder, "store.db"), "sqlite"
        else:
            self.end()
            self.arguments = rest or self.arguments

    def end(self):
        if self.client:
            self.driver.result("close", client=self.client)
            self.client = None

    def answer(self, entry):
        if self.client is None:
            rest = [each for each in self.arguments if each != "--testing"]
            self.client = self.driver.open(store=self.store, testing="--testing" in self.arguments, arguments=rest, timeoutSeconds=60)
        if entry.kind == "*":
            message = request(entry)
            return self.driver.step(
                "call", client=self.client, method=message["method"], params=message.get("params", {}), trace=message.get("trace"))
        method, _, params = entry.text.partition(" ")
        given = transcripts.fill(transcripts.parse(params), self.names) if params.strip() else {}
        return self.driver.step("call", client=self.client, method=method, params=given)

    def succeed(self, entry):
        answer = self.answer(entry)
        if "error" in answer:
            raise self.problem(entry, [f"expected a result, found {show(answer['error'])}"])

    def compare(self, entry, answer):
        error = answer.get("error")
        if entry.kind == "<":
            if error:
                raise self.problem(entry, [f"expected a result, found {show(error)}"])
            wrong, found = transcripts.differences(transcripts.parse(entry.text), answer["result"], self.names), answer["result"]
        else:
            kind, _, details = entry.text.partition(" ")
            if not error or error["kind"] not in ("answered", "tooOld"):
                raise self.problem(entry, [f"expected {kind}, found {show(answer)}"])
            found = {**(error.get("data") or {}), "type": error.get("type"), "code": error["code"], "message": error["message"]}
            wrong = transcripts.differences({"type": kind, **(transcripts.parse(details) if details.strip() else {})}, found, self.names)
        if wrong:
            raise self.problem(entry, [*wrong, f"answered: {show(found)}"])

    def problem(self, entry, lines):
        return Problem(f"{os.path.relpath(entry.file, ROOT)}:{entry.line}: {entry.kind} {entry.text}\n    " + "\n    ".join(lines))
