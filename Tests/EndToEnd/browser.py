"""Controls headless Chromium over a pipe with the Chrome DevTools Protocol. No driver is required."""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
import unittest

PROGRAM = os.environ.get("MINTMARK_CHROMIUM") or next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def high_pipe():
    """Returns both ends of a pipe. Their numbers are at least 10, so they do not collide with the descriptors that Chromium uses."""
    low = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in low]
    for end in low:
        os.close(end)
    return high


def remove(folder):
    """Removes a folder and retries for 10 seconds, because a process may still write to it briefly."""
    deadline = time.monotonic() + 60
    while os.path.exists(folder) and time.monotonic() < deadline:
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(0.05)


class Browser:
    """A browser with one page. A function registered with `add_cleanup` closes it."""

    def __init__(self, add_cleanup):
        if not PROGRAM:
            raise unittest.SkipTest("there is no Chromium here: Tests/run installs it where Debian has it")
        folder = tempfile.mkdtemp(prefix="mintmark-")
        add_cleanup(remove, folder)
        orders, self._orders = high_pipe()
        self._news, news = high_pipe()
        command = [
            PROGRAM, "--headless=new", "--remote-debugging-pipe", f"--user-data-dir={folder}", "--no-first-run", "--disable-gpu", "--disable-dev-shm-usage",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars", "--lang=en",
            *(["--no-sandbox"] if os.geteuid() == 0 else []), "about:blank"]
        # Chromium reads commands from descriptor 3 and writes to descriptor 4.
        process = subprocess.Popen(
            ["bash", "-c", 'exec "${@:3}" 3<&"$1" 4>&"$2"', "bash", str(orders), str(news), *command], pass_fds=(orders, news), start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "HOME": folder, "TMPDIR": folder})
        add_cleanup(self._end, process)
        os.close(orders)
        os.close(news)
        self._number, self._rest, self._session = 0, b"", None
        self.requests, self.complaints = [], []
        target = self.order("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.order("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.order(f"{domain}.enable")
        # Pages that scripts build step by step discard text that is typed too early.
        self.order("Emulation.setScriptExecutionDisabled", value=True)

    def _end(self, process):
        os.close(self._orders)
        os.close(self._news)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()

    def order(self, method, timeout=90, **params):
        """Sends one command and returns its result. Events that arrive before the result are recorded."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params, **({"sessionId": self._session} if self._session else {})}
        os.write(self._orders, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + timeout
        while True:
            news = self._next(deadline, method)
            if news.get("id") == self._number:
                if "error" in news:
                    raise RuntimeError(f"{method}: {news['error']}")
                return news["result"]
            self._note(news)

    def _next(self, deadline, waiting_for):
        while b"\0" not in self._rest:
            if not select.select([self._news], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError(f"Chromium does not answer {waiting_for}")
            block = os.read(self._news, 1 << 20)
            if not block:
                raise RuntimeError(f"Chromium ended before it answered {waiting_for}")
            self._rest += block
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def _note(self, news):
        if news.get("method") == "Network.requestWillBeSent":
            self.requests.append(news["params"]["request"]["url"])
        elif news.get("method") == "Log.entryAdded":
            self.complaints.append(news["params"]["entry"]["text"])

    def run(self, script):
        """Returns the value of a JavaScript expression that the page evaluates."""
        answer = self.order("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, script, timeout=90):
        """Waits until the page is loaded and the expression is true."""
        deadline = time.monotonic() + timeout
        while True:
            try:
                if self.run(f"document.readyState == 'complete' && Boolean({script})"):
                    return
            except RuntimeError:   # The evaluation fails between two pages.
                pass
            if time.monotonic() > deadline:
                raise AssertionError(f"{script} is not so at {self.run('location.href')}: {self.run('document.body.innerText')!r}")
            time.sleep(0.02)

    def open(self, url):
        self.order("Page.navigate", url=url)

    def type(self, selector, text, timeout=90):
        """Types into a field until it keeps the text. A page that scripts build can discard it."""
        field, deadline = f"document.querySelector({json.dumps(selector)})", time.monotonic() + timeout
        while True:
            self.wait(field)
            try:
                self.run(f"({field}.focus(), {field}.select())")
                self.order("Input.insertText", text=text)
                time.sleep(0.2)
                if self.run(f"document.activeElement == {field} && {field}.value") == text:
                    return
            except RuntimeError:   # The evaluation fails between two pages.
                pass
            assert time.monotonic() < deadline, f"{selector} does not keep what is typed"

    def click(self, selector):
        self.wait(f"document.querySelector({json.dumps(selector)})")
        self.run(f"document.querySelector({json.dumps(selector)}).click()")

    def look(self, width=1000, height=640, dark=False):
        """Sets the size and the color scheme of the page."""
        self.order("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.order("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.order("Page.captureScreenshot", format="png")["data"]))
