"""A client's driver: a program in the client's own language that carries out steps, one JSON line each. See README.md."""

import itertools
import json
import os
import queue
import signal
import subprocess
import threading
import time

HERE = os.path.dirname(os.path.realpath(__file__))
CLIENTS = os.path.dirname(HERE)

# How long a step may take before the driver counts as stuck, in seconds.
PATIENCE = 180


class Problem(Exception):
    """What a client did is not what it should have done."""


def drivers():
    """The programs by the names of their columns: clients/go/conformance/driver is go, clients/python/conformance/driver-asyncio python-asyncio."""
    found = {}
    for language in os.listdir(CLIENTS):
        folder = os.path.join(CLIENTS, language, "conformance")
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            program = os.path.join(folder, name)
            if (name == "driver" or name.startswith("driver-")) and os.path.isfile(program) and os.access(program, os.X_OK):
                found[language + name.removeprefix("driver")] = program
    return dict(sorted(found.items()))


class Driver:
    """A client's driver, by the name of its column, with a folder and an environment of its own."""

    def __init__(self, name, folder):
        self.language, self.folder = name.partition("-")[0], folder
        environment = {name: value for name, value in os.environ.items() if not name.startswith("MINTMARK_") or name == "MINTMARK_BINARY"}
        self.process = subprocess.Popen(
            [drivers()[name]], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=open(os.path.join(folder, "stderr"), "wb"), cwd=folder, env={**environment, "XDG_DATA_HOME": folder, "HOME": folder})
        self._answers = queue.Queue()
        self._names = itertools.count(1)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self._answers.put(line)
        self._answers.put(None)

    def step(self, do, patience=PATIENCE, **members):
        """What the driver answers: {"result": …} or {"error": …}."""
        try:
            self.process.stdin.write(json.dumps({"do": do, **members}).encode() + b"\n")
            self.process.stdin.flush()
            line = self._answers.get(timeout=patience)
        except BrokenPipeError:
            line = None
        except queue.Empty:
            raise Problem(f"the step {do} was not answered within {patience} s") from None
        if line is None:
            raise Problem(f"the driver ended in the step {do}; its last words: {self.words()}")
        answer = json.loads(line)
        if "fault" in answer:
            raise Problem(f"the driver could not do the step {do}: {answer['fault']}")
        return answer

    def result(self, do, **members):
        """The result of a step that has to succeed."""
        answer = self.step(do, **members)
        if "error" in answer:
            raise Problem(f"{do} {json.dumps(members)[:300]}: expected a result, found {show(answer['error'])}")
        return answer.get("result")

    def error(self, kind, do, **members):
        """The error of a step that has to fail in one of these ways, words of README.md."""
        answer = self.step(do, **members)
        if "error" not in answer:
            raise Problem(f"{do} {json.dumps(members)[:300]}: expected the error {kind}, found the result {show(answer.get('result'))}")
        if answer["error"]["kind"] not in kind.split():
            raise Problem(f"{do} {json.dumps(members)[:300]}: expected the error {kind}, found {show(answer['error'])}")
        return answer["error"]

    def open(self, **options):
        """A new client, by the name to use it by. Without options: what testing() gives."""
        name = f"client{next(self._names)}"
        self.result("open" if options else "testing", client=name, **options)
        return name

    # What the system says of the driver

    def processes(self):
        """The ids of the programs it has started and not yet waited for."""
        return self._below(self.process.pid)[0]

    def _below(self, number):
        """The programs below one of its processes, and the processes between: those that are the driver itself once more, as subshells are."""
        programs, between = set(), set()
        for each in children(number):
            if command(each) == command(self.process.pid):
                deeper = self._below(each)
                programs |= deeper[0]
                between |= {each} | deeper[1]
            else:
                programs.add(each)
        return programs, between

    def signal(self, number, settle=True):
        """Sends a signal to every process that the driver has started."""
        for each in self.processes():
            os.kill(each, number)
            if number == signal.SIGSTOP and settle:
                eventually(lambda: state(each) in "TtZ", f"process {each} stands still")

    def words(self):
        with open(os.path.join(self.folder, "stderr"), encoding="utf-8", errors="replace") as file:
            return file.read()[-600:]

    def finish(self):
        """Ends its input; it has to end by itself, with all it has started."""
        left = set().union(*self._below(self.process.pid))
        self.process.stdin.close()
        try:
            status = self.process.wait(60)
        except subprocess.TimeoutExpired:
            raise Problem("the driver does not end when its input does") from None
        if status != 0:
            raise Problem(f"the driver ended with status {status}; its last words: {self.words()}")
        eventually(lambda: not any(alive(each) for each in left), "processes outlive the program that started them")

    def close(self):
        """Whatever happened: nothing stays."""
        left = set().union(*self._below(self.process.pid)) if self.process.poll() is None else set()
        self.process.kill()
        self.process.wait()
        for each in left:
            try:
                os.kill(each, signal.SIGKILL)
            except ProcessLookupError:
                pass


def children(number):
    """The ids of a process's children, whichever of its threads has started them."""
    found = set()
    try:
        for task in os.listdir(f"/proc/{number}/task"):
            with open(f"/proc/{number}/task/{task}/children") as file:
                found.update(int(each) for each in file.read().split())
    except OSError:
        pass  # it has ended meanwhile, or one of its threads
    return found


def ancestors(number):
    """The ids of the processes above a process."""
    found = set()
    while number > 1:
        try:
            with open(f"/proc/{number}/stat") as file:
                number = int(file.read().rpartition(")")[2].split()[1])
        except OSError:
            break
        found.add(number)
    return found


def command(number):
    """The command line of a process; nothing for one that has ended."""
    try:
        with open(f"/proc/{number}/cmdline", "rb") as file:
            return file.read()
    except OSError:
        return b""


def state(number):
    """The letter that stands for what a process does; Z for one that is gone."""
    try:
        with open(f"/proc/{number}/stat") as file:
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def alive(number):
    return state(number) != "Z"


def eventually(holds, what, seconds=60):
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            raise Problem(what)
        time.sleep(0.01)


def show(value):
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 600 else text[:600] + "…"
