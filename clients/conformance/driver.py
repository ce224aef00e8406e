"""Controls a client's driver: a program in the client's language that carries out steps, one JSON line each. See README.md."""

import ctypes
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

# The time limit of a step, in seconds. A driver that exceeds it counts as stuck.
PATIENCE = 180

# The variables of this project that a driver inherits: the program, and the folder of a build with the drivers of Swift.
KEPT = ("MINTMARK_BINARY", "MINTMARK_TEST_BUILD")


class Problem(Exception):
    """A client did not behave as expected."""


class NotOffered(Exception):
    """The client does not have what a check is about, and its README says so."""


def drivers():
    """Returns the driver programs by column: go for clients/go/conformance/driver, python-asyncio for clients/python/conformance/driver-asyncio."""
    found = {}
    for language in os.listdir(CLIENTS):
        folder = os.path.join(CLIENTS, language, "conformance")
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            program = os.path.join(folder, name)
            if (name == "driver" or name.startswith("driver-")) and os.path.isfile(program) and os.access(program, os.X_OK):
                found[language + name.removeprefix("driver")] = program
    return dict(sorted(found.items()))


def prepare(language):
    """Builds the driver of a language, if that takes long: the time limit of a step does not cover it."""
    program = os.path.join(CLIENTS, language, "conformance", "prepare")
    if os.path.exists(program):
        subprocess.run([program], stdout=subprocess.DEVNULL, check=True)


class Driver:
    """A running driver, selected by the name of its column, with a separate folder and environment."""

    def __init__(self, name, folder, **variables):
        self.name, self.language, self.folder = name, name.partition("-")[0], folder
        environment = {name: value for name, value in os.environ.items() if not name.startswith("MINTMARK_") or name in KEPT}
        self.process = subprocess.Popen(
            [drivers()[name]], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=open(os.path.join(folder, "stderr"), "wb"), cwd=folder, env={**environment, "XDG_DATA_HOME": folder, "HOME": folder, **variables})
        self._answers = queue.Queue()
        self._names = itertools.count(1)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self._answers.put(line)
        self._answers.put(None)

    def step(self, do, patience=PATIENCE, **members):
        """Sends a step and returns the driver's response: {"result": …} or {"error": …}."""
        try:
            self.process.stdin.write(json.dumps({"do": do, **members}).encode() + b"\n")
            self.process.stdin.flush()
            line = self._answers.get(timeout=patience)
        except BrokenPipeError:
            line = None
        except queue.Empty:
            raise Problem(f"the step {do} was not answered within {patience} s") from None
        if line is None:
            raise Problem(f"the driver ended in the step {do}; its standard error ends with: {self.words()}")
        answer = json.loads(line)
        if "fault" in answer:
            raise Problem(f"the driver could not do the step {do}: {answer['fault']}")
        return answer

    def result(self, do, **members):
        """Returns the result of a step that must succeed."""
        answer = self.step(do, **members)
        if "error" in answer:
            raise Problem(f"{do} {json.dumps(members)[:300]}: expected a result, found {show(answer['error'])}")
        return answer.get("result")

    def error(self, kind, do, **members):
        """Returns the error of a step that must fail with one of these kinds, which README.md defines."""
        answer = self.step(do, **members)
        if "error" not in answer:
            raise Problem(f"{do} {json.dumps(members)[:300]}: expected the error {kind}, found the result {show(answer.get('result'))}")
        if answer["error"]["kind"] not in kind.split():
            raise Problem(f"{do} {json.dumps(members)[:300]}: expected the error {kind}, found {show(answer['error'])}")
        return answer["error"]

    def open(self, **options):
        """Creates a client and returns its name. Without options, it is a testing() client."""
        name = f"client{next(self._names)}"
        self.result("open" if options else "testing", client=name, **options)
        return name

    # Processes of the driver

    def processes(self):
        """Returns the IDs of the programs that the driver has started and not yet waited for."""
        return self._below(self.process.pid)[0]

    def _below(self, number):
        """Returns the programs below a process of the driver, and the processes in between that are copies of the driver, such as subshells."""
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
        """Sends a signal to every program that the driver has started."""
        for each in self.processes():
            os.kill(each, number)
            if number == signal.SIGSTOP and settle:
                eventually(lambda: state(each) in "TtZ", f"process {each} stands still")

    def words(self):
        with open(os.path.join(self.folder, "stderr"), encoding="utf-8", errors="replace") as file:
            return file.read()[-600:]

    def finish(self):
        """Ends the input of the driver. The driver and all its processes must then exit."""
        left = set().union(*self._below(self.process.pid))
        self.process.stdin.close()
        try:
            status = self.process.wait(60)
        except subprocess.TimeoutExpired:
            raise Problem("the driver does not end when its input does") from None
        if status != 0:
            raise Problem(f"the driver ended with status {status}; its standard error ends with: {self.words()}")
        eventually(lambda: not any(alive(each) for each in left), "processes outlive the program that started them")

    def close(self):
        """Kills the driver and all its processes."""
        left = set().union(*self._below(self.process.pid)) if self.process.poll() is None else set()
        self.process.kill()
        self.process.wait()
        for each in left:
            try:
                os.kill(each, signal.SIGKILL)
            except ProcessLookupError:
                pass


def children(number):
    """Returns the IDs of a process's children, started by any of its threads."""
    found = set()
    try:
        for task in os.listdir(f"/proc/{number}/task"):
            with open(f"/proc/{number}/task/{task}/children") as file:
                found.update(int(each) for each in file.read().split())
    except OSError:
        pass  # the process or one of its threads has ended in the meantime
    return found


def ancestors(number):
    """Returns the IDs of the ancestors of a process."""
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
    """Returns the command line of a process, or an empty byte string if it has ended."""
    try:
        with open(f"/proc/{number}/cmdline", "rb") as file:
            return file.read()
    except OSError:
        return b""


def state(number):
    """Returns the state letter of a process, or Z if it no longer exists."""
    try:
        with open(f"/proc/{number}/stat") as file:
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def switches(number):
    """Returns how often each thread of a process has stopped running, or `None` for a thread that runs now."""
    found = []
    for thread in sorted(os.listdir(f"/proc/{number}/task")):
        with open(f"/proc/{number}/task/{thread}/status") as file:
            status = dict(line.split(":", 1) for line in file)
        is_waiting = status["State"].split()[0] == "S"
        found.append(int(status["voluntary_ctxt_switches"]) + int(status["nonvoluntary_ctxt_switches"]) if is_waiting else None)
    return found


def alive(number):
    return state(number) != "Z"


def unread_lines(number):
    """Returns how many lines a process has not read from its standard input, or `None` if that is no pipe."""
    try:
        pipe = os.open(f"/proc/{number}/fd/0", os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return None   # a socket
    out, copy = os.pipe()
    try:
        copied = ctypes.CDLL(None).tee(pipe, copy, 1 << 16, 2)   # SPLICE_F_NONBLOCK; copies without reading
        return os.read(out, copied).count(b"\n") if copied > 0 else 0
    finally:
        for each in (pipe, out, copy):
            os.close(each)


def sent(driver, lines):
    """Waits until the client has sent this many lines to its process, which is suspended."""
    found = [unread_lines(each) for each in driver.processes()]
    if None in found:   # When the driver rests, it has sent everything.
        eventually(lambda: None not in (before := switches(driver.process.pid)) and before == switches(driver.process.pid), "the driver rests")
    else:
        eventually(lambda: sum(unread_lines(each) or 0 for each in driver.processes()) >= lines, f"the client sends {lines} requests")


def eventually(holds, what, seconds=60):
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            raise Problem(what)
        time.sleep(0.01)


def show(value):
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 600 else text[:600] + "…"
