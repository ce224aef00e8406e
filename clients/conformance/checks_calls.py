"""Checks of calls that transcripts cannot express."""

import json
import signal
import time

from driver import Problem, eventually, sent
from stand_ins import seen, stand_in

NOWHERE = "local-1:00000000-0000-0000-0000-000000000000"


def expect(holds, what):
    if not holds:
        raise Problem(what)


def ping(driver, client):
    expect(driver.result("call", client=client, method="system.ping")["now"] > 0, "system.ping is answered")


def testing_in_one_line(driver):
    """testing() starts a new store in memory with a virtual clock"""
    first, second = driver.open(), driver.open()
    driver.result("call", client=first, method="pool.create", params={"name": "shop"})
    expect(driver.result("call", client=second, method="pool.list")["pools"] == [], "the second testing() has a store of its own")
    driver.result("call", client=first, method="test.clock", params={"freeze": True, "setAt": 1_700_000_000})
    expect(driver.result("call", client=first, method="system.ping") == {"now": 1_700_000_000}, "the clock is turned")


def a_thousand_calls(driver):
    """1,000 concurrent calls each get their own response"""
    client = driver.open()
    pool = driver.result("call", client=client, method="pool.create", params={"name": "shop", "developerProvider": "login.shop"})["poolId"]
    params = [{"name": f"role-{number}", "poolId": pool} for number in range(1000)]
    answers = driver.result("many", client=client, method="role.put", params=params, timeoutSeconds=60)
    expect(len(answers) == 1000, f"a thousand answers, found {len(answers)}")
    for number, answer in enumerate(answers):
        arn = answer.get("result", {}).get("roleArn", "")
        expect(arn.endswith(f"/role-{number}"), f"call {number} got the answer {json.dumps(answer)[:200]}")


def mixed_answers(driver):
    """responses and errors in a different order are matched to their calls"""
    client = driver.open(store=":memory:", binary=stand_in(driver, """
        waiting = globals().setdefault("waiting", [])
        waiting.append(m)
        if len(waiting) == 50:
            for m in reversed(waiting):
                number = int(m["params"]["name"])
                if number % 3: answer(result=pool(poolId=m["params"]["name"], name="x"))
                else: answer(error={"code": 2001, "message": "No pool.", "data": {"type": "poolNotFound", "poolId": m["params"]["name"]}})
    """))
    answers = driver.result("many", client=client, method="pool.create", params=[{"name": str(number)} for number in range(50)])
    for number, answer in enumerate(answers):
        found = answer["result"]["poolId"] if number % 3 else answer["error"]["data"]["poolId"]
        expect(found == str(number), f"call {number} got the answer of {found}")


def a_long_parameter(driver):
    """a parameter of 900 kB arrives; one above the limit is refused without affecting other calls"""
    client = driver.open()
    name = "x" * 900_000
    error = driver.error("answered", "call", client=client, method="token.verify", params={"token": name, "audience": "a"})
    expect(error["type"] in ("tokenMalformed", "invalidParams"), f"the answer to a token of 900 kB is {error['type']}")
    echo = driver.open(store=":memory:", binary=stand_in(driver, 'answer(result=pool(poolId="p", name=m["params"]["name"]))'))
    expect(driver.result("call", client=echo, method="pool.create", params={"name": name})["name"] == name, "all of it arrives and comes back")
    error = driver.error("answered refused", "call", client=client, method="token.verify", params={"token": "x" * 1_100_000, "audience": "a"})
    expect(error["kind"] == "refused" or error.get("type") == "invalidRequest", f"a line that is too long is called {error.get('type')}")
    ping(driver, client)


def typed_errors(driver):
    """an error has a specific type, with its code and details"""
    client = driver.open()
    error = driver.error("answered", "call", client=client, method="pool.get", params={"poolId": NOWHERE}, trace="order-17")
    expect(error["class"] == "PoolNotFound", f"its class is {error['class']}")
    expect((error["code"], error["type"], error["data"]["poolId"]) == (2001, "poolNotFound", NOWHERE), f"its details are {error}")
    expect("pool" in error["message"], "its message is for people")
    error = driver.error("answered", "call", client=client, method="pool.create", params={"name": ""})
    expect(error["class"] == "InvalidParams" and error["data"]["violations"][0]["pointer"] == "/name", f"every violation is there: {error}")


def unknown_values_are_preserved(driver):
    """unknown members, states and errors are preserved"""
    answer = {"identityId": "i", "poolId": "p", "state": "petrified", "logins": ["login.shop"], "createdAt": 1, "updatedAt": 2,
              "aura": {"colour": "blue", "rays": [1, None, {"deep": 2.5}]}, "weight": 9007199254740991}
    error = {"code": 9999, "message": "Brand new.", "data": {"type": "brandNew", "shine": [1, {"bright": True}]}}
    client = driver.open(store=":memory:", binary=stand_in(driver, f"""
        if m["method"] == "identity.get": answer(result={answer!r})
        else: answer(error={error!r})
    """))
    found = driver.result("call", client=client, method="identity.get", params={"identityId": "i"})
    expect(found == answer, f"the answer came out as {found}")
    found = driver.error("answered", "call", client=client, method="pool.get", params={"poolId": "p"})
    expect((found["code"], found["type"], found["data"]["shine"]) == (9999, "brandNew", [1, {"bright": True}]), f"the error came out as {found}")


def notifications(driver):
    """known and unknown notifications reach the application"""
    client = driver.open(store=":memory:", binary=stand_in(driver, """
        send({"jsonrpc": "2.0", "method": "moon/risen", "params": {"phase": "full"}})
        send({"jsonrpc": "2.0", "method": "$/progress", "params": {"token": "p", "value": 3}})
        answer(result={"pools": []})
    """))
    driver.result("call", client=client, method="pool.list")
    wanted = [{"method": "moon/risen", "params": {"phase": "full"}}, {"method": "$/progress", "params": {"token": "p", "value": 3}}]
    eventually(lambda: driver.result("notifications", client=client) == wanted, "both notifications arrive, in their order")


def unasked_progress(driver):
    """progress for a call that did not request it is ignored"""
    client = driver.open(store=":memory:", binary=stand_in(driver, """
        send({"jsonrpc": "2.0", "method": "$/progress", "params": {"token": m["id"], "value": 3}})
        answer(result={"pools": []})
    """))
    for _ in range(3):
        expect(driver.result("call", client=client, method="pool.list")["pools"] == [], "the call is answered")
    ping(driver, client)


def cancel_ends_call(driver):
    """a canceled call ends immediately, and the process receives the cancellation"""
    client = driver.open(store=":memory:", binary=stand_in(driver, "pass"))
    driver.result("begin", client=client, call="slow", method="pool.list")
    eventually(lambda: any("pool.list" in line for line in seen(driver)), "the request is sent")
    began = time.monotonic()
    driver.result("cancel", call="slow")
    driver.error("cancelled", "await", call="slow")
    expect(time.monotonic() - began < 30, "it ends at once")
    told(driver, "pool.list")
    ping(driver, client)


def told(driver, method):
    """Waits until the process has received a cancellation of the request for `method`."""
    def holds():
        messages = [json.loads(line) for line in seen(driver)]
        ids = [each.get("id") for each in messages if each.get("method") == method]
        return any(each.get("method") == "$/cancelRequest" and each["params"]["id"] in ids for each in messages)
    eventually(holds, f"$/cancelRequest names the request {method}")


def cancel_while_suspended(driver):
    """a call that is canceled while Mintmark is suspended leaves the client usable"""
    client = driver.open()
    ping(driver, client)
    driver.signal(signal.SIGSTOP)
    driver.result("begin", client=client, call="slow", method="pool.list")
    sent(driver, 1)
    driver.result("cancel", call="slow")
    driver.error("cancelled", "await", call="slow")
    driver.signal(signal.SIGCONT)
    ping(driver, client)


def timed_out(driver):
    """a call that exceeds its time limit ends, and the process receives a cancellation"""
    client = driver.open(store=":memory:", binary=stand_in(driver, "pass"))
    ping(driver, client)
    began = time.monotonic()
    error = driver.error("timedOut", "call", client=client, method="pool.list", timeoutSeconds=0.3)
    expect(0.25 < time.monotonic() - began < 30, f"it took {time.monotonic() - began:.1f} s")
    expect("pool.list" in error["message"], f"the message names the call: {error['message']}")
    told(driver, "pool.list")
    ping(driver, client)


def values_without_json(driver):
    """values without a JSON representation are refused before sending, and the client stays usable"""
    client = driver.open()
    for value in ("nan", "infinity", "cycle", "surrogate"):
        driver.error("refused answered" if value == "surrogate" else "refused", "strange", client=client, value=value)
        ping(driver, client)
    for value in ("date", "function"):
        driver.step("strange", client=client, value=value)
        ping(driver, client)


CHECKS = [
    testing_in_one_line, a_thousand_calls, mixed_answers, a_long_parameter, typed_errors, unknown_values_are_preserved, notifications,
    unasked_progress, cancel_ends_call, cancel_while_suspended, timed_out, values_without_json,
]
