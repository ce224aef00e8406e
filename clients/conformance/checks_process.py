"""Checks of the process: finding the program, crashes, shutdown, and programs that are not a suitable Mintmark."""

import os
import signal
import time

from checks_calls import expect, ping
from driver import Driver, alive, ancestors, command, eventually, sent
from stand_ins import seen, stand_in, write


def the_data_is_named(driver):
    """opening requires exactly one of store and app"""
    for options in ({"testing": True}, {"store": ":memory:", "app": "shop"}):
        error = driver.error("refused", "open", client="none", **options)
        expect("store" in error["message"].lower() and "app" in error["message"].lower(), f"the message says which: {error['message']}")
    expect(not driver.processes(), "nothing was started")


def a_store_of_the_environment(driver):
    """without store and app, MINTMARK_STORE or else MINTMARK_APP names the store, as mintmark run does"""
    store = os.path.join(driver.folder, "named.db")
    for number, (variables, options, path) in enumerate((
        ({"MINTMARK_STORE": store, "MINTMARK_APP": "other"}, {}, store),
        ({"MINTMARK_STORE": "", "MINTMARK_APP": "named"}, {}, "mintmark/named.db"),
        ({"MINTMARK_STORE": store}, {"app": "own"}, "mintmark/own.db"),
        ({"MINTMARK_APP": "other"}, {"store": "own.db"}, "own.db"),
    )):
        folder = os.path.join(driver.folder, str(number))
        os.mkdir(folder)
        inner = Driver(driver.name, folder, **variables)
        try:
            inner.result("open", client="named", **options)
            inner.result("call", client="named", method="pool.create", params={"name": "shop"})
            inner.finish()
        finally:
            inner.close()
        expect(os.path.exists(os.path.join(folder, path)), f"{variables} with {options}: {path} is there")
        expect(not os.path.exists(os.path.join(folder, "mintmark", "other.db")), "no other store was made")


def an_app(driver):
    """an app has a separate store in the user's data directory"""
    first = driver.open(app="shop")
    driver.result("call", client=first, method="pool.create", params={"name": "shop"})
    driver.result("close", client=first)
    expect(os.path.exists(os.path.join(driver.folder, "mintmark", "shop.db")), "its store is there")
    pools = driver.result("call", client=driver.open(app="shop"), method="pool.list")["pools"]
    expect([pool["name"] for pool in pools] == ["shop"], "it is found again")


def message_of_failure(driver, kind, **options):
    """Returns the message of the error with which opening or the first call fails."""
    answer = driver.step("open", client="spoilt", **{"store": ":memory:", "timeoutSeconds": 120, **options})
    if "error" not in answer:
        answer = driver.step("call", client="spoilt", method="pool.list")
    expect("error" in answer, "a program that is not Mintmark gave a result")
    expect(answer["error"]["kind"] in kind.split(), f"expected the error {kind}, found {answer['error']}")
    driver.step("close", client="spoilt")
    eventually(lambda: not driver.processes(), "the process is gone")
    return answer["error"]["message"]


def a_missing_binary(driver):
    """a missing or non-executable program is reported with its path and a remedy"""
    nowhere, text = os.path.join(driver.folder, "nowhere"), os.path.join(driver.folder, "text")
    with open(text, "w") as file:
        file.write("no program\n")
    for path in (nowhere, text, driver.folder):
        message = message_of_failure(driver, "notFound", binary=path)
        expect(path in message and "MINTMARK_BINARY" in message, f"the message says where and what to do: {message}")


def an_old_binary(driver):
    """a program without a method of this contract is reported as too old, with a remedy"""
    old = stand_in(driver, """
        answer(error={"code": -32601, "message": "There is no such method.", "data": {"type": "methodNotFound", "method": m["method"]}})
    """, version="0.0.1", methods="system.info system.ping")
    message = message_of_failure(driver, "tooOld", binary=old)
    expect("older" in message and "MINTMARK_BINARY" in message, f"the message says what to do: {message}")


def an_old_version(driver):
    """a program with a lower contract version than the client is reported as too old at the start"""
    old = stand_in(driver, 'answer(result={"pools": []})', version="0.0.1")
    message = message_of_failure(driver, "tooOld", binary=old)
    expect("0.0.1" in message and "MINTMARK_BINARY" in message, f"the message says what to do: {message}")


def garbage(driver):
    """a program that prints garbage is detected and ended"""
    for words in ('print("Welcome!")', 'print(json.dumps(["jsonrpc"]))', 'print(json.dumps({"id": 1, "result": {}}))', 'print("\\0\\x01{")'):
        program = write(os.path.join(driver.folder, "garbage"), f"""
            import json, sys, time
            {words}
            sys.stdout.flush()
            sys.stdin.readline()
            time.sleep(600)
        """)
        message = message_of_failure(driver, "garbage", binary=program)
        expect("garbage" in message, f"the message names the program: {message}")


def one_that_ends(driver):
    """a program that exits immediately is reported with its exit status"""
    program = write(os.path.join(driver.folder, "ends"), """
        import sys
        print("the disk is gone", file=sys.stderr)
        sys.exit(74)
    """)
    message = message_of_failure(driver, "ended", binary=program)
    expect("74" in message, f"the message says how: {message}")


def refused_arguments(driver):
    """arguments that the program rejects are reported"""
    message = message_of_failure(driver, "ended", arguments=["--no-such-option"])
    expect("arguments" in message, f"the message says so: {message}")


def silence(driver):
    """a program that never responds fails the call at its time limit, and close ends the program"""
    program = write(os.path.join(driver.folder, "silent"), """
        import time
        time.sleep(600)
    """)
    began = time.monotonic()
    answer = driver.step("open", client="silent", store=":memory:", binary=program, timeoutSeconds=1)
    if "error" not in answer:
        answer = driver.step("call", client="silent", method="pool.list")
    expect(answer["error"]["kind"] == "timedOut", f"the call times out: {answer}")
    driver.step("close", client="silent", graceSeconds=0.5)
    expect(time.monotonic() - began < 60, f"that took {time.monotonic() - began:.1f} s")
    eventually(lambda: not driver.processes(), "the process is gone")


def kill_during_call(driver):
    """killing the process fails every waiting call; with a store on disk, the next call starts it again"""
    client = driver.open(store=os.path.join(driver.folder, "shop.db"))
    pool = driver.result("call", client=client, method="pool.create", params={"name": "shop"})
    driver.signal(signal.SIGSTOP)
    for number in range(5):
        driver.result("begin", client=client, call=f"c{number}", method="pool.list")
    sent(driver, 5)
    driver.signal(signal.SIGKILL)
    for number in range(5):
        error = driver.error("ended", "await", call=f"c{number}")
        expect("SIGKILL" in error["message"] or "signal" in error["message"], f"it says how: {error['message']}")
    expect(driver.result("call", client=client, method="pool.get", params={"poolId": pool["poolId"]})["name"] == "shop", "it goes on")


def kill_loses_store_in_memory(driver):
    """after the loss of a store in memory, the next call fails unless restart is enabled"""
    for restart in (None, True):
        options = {} if restart is None else {"restart": restart}
        client = driver.open(store=":memory:", **options)
        ping(driver, client)
        driver.signal(signal.SIGKILL)
        eventually(lambda: not driver.processes(), "the process is gone")
        if restart:
            ping(driver, client)
        else:
            error = driver.error("ended", "call", client=client, method="system.ping")
            expect("memory" in error["message"], f"it says what is gone: {error['message']}")


def closed(driver):
    """close lets waiting calls finish, ends the process and refuses later calls"""
    # It answers only when its input has ended.
    slow = stand_in(driver, 'sys.stdin.read(); answer(result={"pools": []})')
    client = driver.open(store=":memory:", binary=slow)
    ping(driver, client)
    driver.result("begin", client=client, call="slow", method="pool.list")
    eventually(lambda: any("pool.list" in line for line in seen(driver)), "the request arrives")
    left = driver.processes()
    driver.result("close", client=client)
    driver.result("await", call="slow")
    expect(not any(alive(each) for each in left), "the process is gone")
    driver.error("closed", "call", client=client, method="system.ping")
    driver.result("close", client=client)


def close_leaves_nothing(driver):
    """closed clients leave no process and no thread"""
    def turn():
        client = driver.open()
        ping(driver, client)
        driver.result("close", client=client)
    turn()
    before, files = driver.result("left"), len(os.listdir(f"/proc/{driver.process.pid}/fd"))
    for _ in range(5):
        turn()
    expect(not driver.processes(), "no process is left")
    eventually(lambda: driver.result("left") <= before, f"no thread is left: {driver.result('left')} after {before}")
    eventually(lambda: len(os.listdir(f"/proc/{driver.process.pid}/fd")) <= files, "no descriptor is left")


def exit_without_close(driver):
    """a program that exits without close ends its process"""
    ping(driver, driver.open())
    ping(driver, driver.open(store=os.path.join(driver.folder, "shop.db")))
    expect(len(driver.processes()) == 2, "both processes run")


def the_parent(driver):
    """every process, including a restarted one, gets --parent; an explicit argument takes precedence"""
    def parent(client):
        ping(driver, client)
        process = max(driver.processes(), key=lambda each: b"serve" in command(each))
        named = [each for each in command(process).split(b"\0") if each.startswith(b"--parent")]
        return process, named
    client = driver.open(store=os.path.join(driver.folder, "shop.db"))
    for _ in range(2):
        process, named = parent(client)
        expect(len(named) == 1 and int(named[0].partition(b"=")[2]) in ancestors(process), f"it is not told: {command(process)}")
        driver.signal(signal.SIGKILL)
        eventually(lambda: not alive(process), "the process is gone")
        eventually(lambda: "error" not in driver.step("call", client=client, method="system.ping"), "it goes on")
    driver.result("close", client=client)
    client = driver.open(store=":memory:", arguments=["--parent=0"])
    named = parent(client)[1]
    expect(named[-1] == b"--parent=0", f"its own argument is not the last: {named}")


CHECKS = [
    the_data_is_named, a_store_of_the_environment, an_app, a_missing_binary, an_old_binary, an_old_version, garbage, one_that_ends, refused_arguments, silence,
    kill_during_call, kill_loses_store_in_memory, closed, close_leaves_nothing, exit_without_close, the_parent,
]
