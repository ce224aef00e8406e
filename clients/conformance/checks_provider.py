"""Checks of the class CredentialsProvider of each client, and of the first program of its README."""

import os
import re
import signal
import subprocess

from checks_calls import expect
from driver import CLIENTS, Problem, eventually

ALICE = {"login.shop": "alice"}


def pool_with_roles(driver, client):
    """Creates a pool for guests and for users of the application's backend, each with a role."""
    def call(method, **params):
        return driver.result("call", client=client, method=method, params=params)
    pool = call("pool.create", name="shop", developerProvider="login.shop", allowUnauthenticated=True)["poolId"]
    shopper = call("role.put", name="shopper", poolId=pool)["roleArn"]
    statement = {
        "Effect": "Allow", "Principal": {"Federated": "cognito-identity.amazonaws.com"}, "Action": "sts:AssumeRoleWithWebIdentity",
        "Condition": {"StringEquals": {"cognito-identity.amazonaws.com:aud": pool}}}
    visitor = call("role.put", name="visitor", trustPolicy={"Version": "2012-10-17", "Statement": [statement]})["roleArn"]
    call("pool.setRoles", poolId=pool, roles={"authenticated": shopper, "unauthenticated": visitor})
    return pool


def opened(driver, client, pool, backend="mints", **params):
    driver.result("provider.open", client=client, provider="p", backend=backend, params={"poolId": pool, **params})


def token_requested_when_needed(driver):
    """CredentialsProvider requests a token from the application only if one is needed"""
    client = driver.open()
    opened(driver, client, pool_with_roles(driver, client), logins=ALICE)
    first = driver.result("provider.get", provider="p")
    expect(first["state"] == "ready" and first["roleArn"].endswith("/shopper"), f"credentials of the shopper: {first}")
    again = driver.result("provider.get", provider="p")
    expect(again["credentials"] == first["credentials"], "the same are held")
    expect(driver.result("provider.asked", provider="p") == [ALICE], "the application was asked once, for alice")
    renewed = driver.result("provider.get", provider="p", refresh=True)
    expect(renewed["credentials"] != first["credentials"] and renewed["identityId"] == first["identityId"], "asked for, they are renewed")
    expect(driver.result("provider.asked", provider="p") == [ALICE, ALICE], "with another token")
    expect(driver.result("provider.identityId", provider="p") == first["identityId"], "the identity is told")
    driver.result("provider.close", provider="p")
    driver.error("answered", "provider.get", provider="p")


def closed_at_once(driver):
    """a CredentialsProvider that was closed before its first call opens nothing and fails as closed"""
    client = driver.open()
    opened(driver, client, pool_with_roles(driver, client), logins=ALICE)
    driver.result("provider.close", provider="p")
    for do in ("get", "identityId", "clearCredentials"):
        error = driver.error("closed", f"provider.{do}", provider="p")
        expect("client that is closed" not in error["message"] and "rovider" in error["message"], f"{do} was taken as {error}")
    driver.result("provider.close", provider="p")
    expect(driver.result("provider.asked", provider="p") == [], "the application is not asked")


def guests(driver):
    """CredentialsProvider works for guests and for users who sign in and out"""
    client = driver.open()
    pool = pool_with_roles(driver, client)
    opened(driver, client, pool)
    guest = driver.result("provider.get", provider="p")
    expect(guest["roleArn"].endswith("/visitor") and driver.result("provider.asked", provider="p") == [], "a guest needs no token")
    driver.result("provider.setLogins", provider="p", logins=ALICE)
    alice = driver.result("provider.get", provider="p")
    expect(alice["identityId"] == guest["identityId"] and alice["roleArn"].endswith("/shopper"), "the guest has become alice")
    driver.result("provider.clearCredentials", provider="p")
    expect(driver.result("provider.get", provider="p")["identityId"] == alice["identityId"], "without credentials alice stays")
    driver.result("provider.clearKeychain", provider="p")
    expect(driver.result("provider.get", provider="p")["identityId"] != alice["identityId"], "after clearKeychain somebody else comes")


def joined(driver):
    """concurrent calls of CredentialsProvider share one token request to the application"""
    client = driver.open()
    opened(driver, client, pool_with_roles(driver, client), backend="slow", logins=ALICE)
    for number in range(20):
        driver.result("begin", call=f"c{number}", then="provider.get", provider="p")
    answers = [driver.result("await", call=f"c{number}") for number in range(20)]
    expect(all(each["credentials"] == answers[0]["credentials"] for each in answers), "all have the same credentials")
    expect(driver.result("provider.asked", provider="p") == [ALICE], "the application was asked once")


def a_backend_that_fails(driver):
    """CredentialsProvider fails with the application's error if it cannot provide a token, and tries again on the next call"""
    client = driver.open()
    opened(driver, client, pool_with_roles(driver, client), backend="fails", logins=ALICE)
    error = driver.error("own", "provider.get", provider="p")
    expect("the backend is down" in error["message"], f"its own words: {error}")
    driver.result("provider.backend", provider="p", backend="mints")
    expect(driver.result("provider.get", provider="p")["state"] == "ready", "the next call asks anew")


def after_a_restart(driver):
    """CredentialsProvider keeps its identity after the process was killed"""
    client = driver.open(store=os.path.join(driver.folder, "shop.db"))
    opened(driver, client, pool_with_roles(driver, client), logins=ALICE)
    first = driver.result("provider.get", provider="p")
    driver.signal(signal.SIGKILL)
    eventually(lambda: not driver.processes(), "the process is gone")
    again = driver.result("provider.get", provider="p")
    expect(again["identityId"] == first["identityId"] and again["state"] == "ready", f"the same identity, found {again}")


def another_identity(driver):
    """the application receives a notification if the identity changes to another one"""
    client = driver.open()
    pool = pool_with_roles(driver, client)
    alice = driver.result("call", client=client, method="token.mintForDeveloper", params={"poolId": pool, "logins": ALICE})["identityId"]
    opened(driver, client, pool)
    guest = driver.result("provider.get", provider="p")["identityId"]
    driver.result("provider.setLogins", provider="p", logins=ALICE)
    expect(driver.result("provider.get", provider="p")["identityId"] == alice, "the guest turns out to be alice")
    found = []
    eventually(lambda: found.extend(driver.result("notifications", client=client)) or found, "the notification arrives")
    change = found[0]["params"]
    expect(found[0]["method"] == "credentialsProvider/identityChanged", f"found {found}")
    expect((change["oldIdentityId"], change["newIdentityId"]) == (guest, alice), f"found {change}")


def first_program(driver):
    """the first program of the README runs unchanged"""
    with open(os.path.join(CLIENTS, driver.language, "README.md"), encoding="utf-8") as file:
        block = re.search(r"^```(?!sh\b|\s*$)\w+\n(.*?)^```", file.read(), re.M | re.S)
    if not block:
        raise Problem("there is no program in it")
    text = block[1]
    expect(len([line for line in text.splitlines() if line.strip()]) <= 20, "it is short")
    path = os.path.join(driver.folder, "program")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    done = subprocess.run(
        [os.path.join(CLIENTS, driver.language, "conformance", "first-program"), path], cwd=driver.folder, text=True, capture_output=True,
        timeout=300, env={**os.environ, "MINTMARK_STORE": "", "HOME": driver.folder}, stdin=subprocess.DEVNULL)
    expect(done.returncode == 0, f"it ended with status {done.returncode}: {done.stderr[-600:]}")
    expect(done.stdout.strip() != "", "it prints something")


CHECKS = [token_requested_when_needed, closed_at_once, guests, joined, a_backend_that_fails, after_a_restart, another_identity, first_program]
