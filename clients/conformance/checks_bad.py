"""Checks of invalid input: files that are not programs, malformed responses, values that are not JSON. No resources may leak."""

import json
import os

from checks_calls import expect, ping
from checks_process import message_of_failure
from driver import Problem, eventually
from stand_ins import seen, stand_in, write


def shell(driver, name, text):
    """Creates a program that starts quickly."""
    path = os.path.join(driver.folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\n{text}\n")
    os.chmod(path, 0o755)
    return path


def programs_that_cannot_run(driver):
    """a broken link and a file in an unknown format are reported with their path"""
    link, text = os.path.join(driver.folder, "link"), os.path.join(driver.folder, "format")
    os.symlink(os.path.join(driver.folder, "nowhere"), link)
    with open(text, "wb") as file:
        file.write(b"\0\1\2\3no program\n")
    os.chmod(text, 0o755)
    expect(link in message_of_failure(driver, "notFound", binary=link), "the message says where")
    # On some systems, such a file is run by the shell, which exits with 126 or 127.
    message = message_of_failure(driver, "notFound ended", binary=text)
    expect(text in message or "126" in message or "127" in message, f"the message says where, or how it ended: {message}")


def endless_line(driver):
    """a program that writes a line without an end is reported as garbage, and its output is not stored without limit"""
    program = write(os.path.join(driver.folder, "endless"), """
        import os, time
        try:
            for _ in range(1024):
                os.write(1, b"x" * 65536)
            time.sleep(600)
        except OSError:
            pass
    """)
    expect("endless" in message_of_failure(driver, "garbage", binary=program), "the message names the program")


def output_that_is_not_utf8(driver):
    """a program whose output is not UTF-8 or is nested without end is reported as garbage"""
    for text in ("\\377\\376\\000", "[" * 200_000):
        written = os.path.join(driver.folder, "written")
        with open(written, "wb") as file:
            file.write(text.encode().replace(b"\\377\\376\\000", b"\xff\xfe\0") + b"\n")
        program = shell(driver, "bytes", f"cat '{written}'; exec sleep 600")
        expect("bytes" in message_of_failure(driver, "garbage", binary=program), "the message names the program")


def malformed_responses(driver):
    """a malformed response fails its call and all later calls with a client error"""
    for wrong in ('{"jsonrpc": "2.0", "id": m["id"]}', '{"jsonrpc": "2.0", "id": m["id"], "error": "no"}',
                  '{"jsonrpc": "2.0", "id": m["id"], "error": {"message": 5}}', '{"jsonrpc": "1.0", "id": m["id"], "result": {}}', '[1, 2]', '42'):
        program = stand_in(driver, f"send({wrong})")
        answer = driver.step("open", client="wrong", store=":memory:", binary=program, timeoutSeconds=120)
        if "error" not in answer:
            answer = driver.step("call", client="wrong", method="pool.list")
        expect(answer.get("error", {}).get("kind") in ("garbage", "answered"), f"{wrong} was taken as {answer}")
        driver.step("close", client="wrong")
    eventually(lambda: not driver.processes(), "the processes are gone")


def responses_to_unknown_requests(driver):
    """responses to unknown or completed requests are ignored"""
    client = driver.open(store=":memory:", binary=stand_in(driver, """
        for id in (987654321, "seven", -1, 1.5, 0, None, True, [1], {}, {"id": 1}): send({"jsonrpc": "2.0", "id": id, "result": {"pools": ["wrong"]}})
        answer(result={"pools": []})
        answer(result={"pools": ["twice"]})
    """))
    for _ in range(3):
        expect(driver.result("call", client=client, method="pool.list")["pools"] == [], "the answer is the one to this request")


def errors_without_request_id(driver):
    """a program that returns only errors without a request ID does not block calls"""
    program = stand_in(driver, 'send({"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "x"}})', methods="")
    answers = [driver.step("open", client="strange", store=":memory:", binary=program, timeoutSeconds=120)]
    if "error" not in answers[0]:
        answers = [driver.step("call", client="strange", method="pool.list") for _ in range(3)]
    for answer in answers:
        expect(answer.get("error", {}).get("kind") in ("garbage", "answered"), f"it was taken as {answer}")
    driver.step("close", client="strange")
    eventually(lambda: not driver.processes(), "the process is gone")


def exit_during_call(driver):
    """a program that exits before or during its response is reported with its exit status"""
    for words in ("", '{"jsonrpc":"2.0","id":1,"resu'):
        program = stand_in(driver, f"sys.stdout.write({words!r}); sys.stdout.flush(); os._exit(73)")
        message = message_of_failure(driver, "ended", binary=program)
        expect("73" in message, f"the message says how: {message}")


def incomplete_response(driver):
    """a program that stops during its response fails the call at its time limit"""
    program = stand_in(driver, """sys.stdout.write('{"jsonrpc":"2.0","id":1,"resu'); sys.stdout.flush()""")
    client = driver.open(store=":memory:", binary=program)
    ping(driver, client)
    driver.error("timedOut", "call", client=client, method="pool.list", timeoutSeconds=0.3)


def ends_at_every_start(driver):
    """a program that exits at every start fails each call, and the next call starts it again"""
    starts = os.path.join(driver.folder, "starts")
    program = shell(driver, "ends", f"echo start >> '{starts}'; exit 74")
    answers = [driver.step("open", client="ends", store=os.path.join(driver.folder, "shop.db"), binary=program, timeoutSeconds=120)]
    answers += [driver.step("call", client="ends", method="system.ping") for _ in range(3)] if "error" not in answers[0] else []
    for answer in answers[-3:]:
        expect(answer.get("error", {}).get("kind") == "ended" and "74" in answer["error"]["message"], f"it says how it ended: {answer}")
    with open(starts) as file:
        expect(1 <= len(file.readlines()) <= 8, "it is not started again and again")
    driver.step("close", client="ends")


def unusual_values(driver):
    """a value that is not JSON is refused or converted as by the language's JSON library; it is never dropped"""
    account = {"accountId": "a", "tenantId": "t", "emailVerified": False, "method": "anonymous", "providers": [], "attributes": {}, "claims": {},
               "disabled": False, "createdAt": 1, "updatedAt": 1}
    client = driver.open(store=":memory:", binary=stand_in(driver, f"answer(result={account!r})"))
    for value in ("date", "bytes", "set", "function", "bigint", "deep"):
        before = len(seen(driver))
        answer = driver.step("strange", client=client, value=value)
        sent = [json.loads(line) for line in seen(driver)[before:]]
        sent = [each["params"]["claims"] for each in sent if each.get("method") == "account.setClaims"]
        if "error" in answer:
            expect(answer["error"]["kind"] in ("refused", "answered"), f"a {value} is called {answer['error']}")
            expect(not sent, f"a {value} is refused, and was sent")
            continue
        arrived = sent[0].get("value")
        expect(arrived not in (None, {}, "", "[object Object]"), f"of a {value} there arrived {arrived}")
        expect(value != "bigint" or arrived in (2**70, str(2**70)), f"of 2 to the 70 there arrived {arrived}")
        expect(value != "deep", "Mintmark reads no JSON that nests deeper than 64 levels, and this was sent")
    ping(driver, client)


def a_hundred_failures(driver):
    """a hundred failed starts leave no process, no thread and no descriptor"""
    def fail(kind, store=":memory:", **options):
        answer = driver.step("open", client="failed", store=store, **options)
        if "error" not in answer:
            answer = driver.step("call", client="failed", method="system.ping")
        if answer.get("error", {}).get("kind") != kind:
            raise Problem(f"expected the error {kind}, found {answer}")
        driver.step("close", client="failed", graceSeconds=0.1)
    ends, garbage, silent = (shell(driver, name, text) for name, text in (
        ("ends", "exit 74"), ("garbage", "echo Welcome; exec cat >/dev/null"), ("silent", "exec sleep 600")))

    def turn():
        fail("notFound", binary=os.path.join(driver.folder, "nowhere"))
        fail("ended", binary=ends)
        fail("garbage", binary=garbage)
        fail("notFound", binary=driver.folder, store=os.path.join(driver.folder, "shop.db"))
    turn()
    fail("timedOut", binary=silent, timeoutSeconds=0.05)
    eventually(lambda: not driver.processes(), "the first processes are gone")
    before, files = driver.result("left"), descriptors(driver)
    for _ in range(22):
        turn()
    for _ in range(12):
        fail("timedOut", binary=silent, timeoutSeconds=0.05)
    # A language runtime may open a few files and start a few threads on first use.
    # A leak at each failure would exceed this tolerance.
    eventually(lambda: not driver.processes(), "no process is left")
    eventually(lambda: driver.result("left") <= before + 5, f"no thread is left: {driver.result('left')} after {before}")
    eventually(lambda: descriptors(driver) <= files + 5, f"no descriptor is left: {descriptors(driver)} after {files}")


def descriptors(driver):
    return len(os.listdir(f"/proc/{driver.process.pid}/fd"))


CHECKS = [
    programs_that_cannot_run, endless_line, output_that_is_not_utf8, malformed_responses, responses_to_unknown_requests, errors_without_request_id,
    exit_during_call, incomplete_response, ends_at_every_start, unusual_values, a_hundred_failures,
]
