"""Checks of hooks: functions of the application that decide about accounts, sessions and messages."""

from checks_calls import expect
from driver import NotOffered

PASSWORD = "correct horse 9 Battery"
ALICE = {"username": "alice@example.com", "password": PASSWORD}
PIPE = {"transport": "pipe"}

# The clients that cannot answer requests of the process.
WITHOUT = ("shell",)


def begun(driver, **hooks):
    """Opens a client whose hooks behave as named, sets these hooks for the default tenant, and creates the account of Alice."""
    client = driver.open(store=":memory:", testing=True, hooks=hooks)
    call(driver, client, "hooks.set", **dict.fromkeys(hooks, PIPE))
    call(driver, client, "account.create", **ALICE, emailVerified=True)
    return client


def call(driver, client, method, **params):
    return driver.result("call", client=client, method=method, params=params)


def asked_in_order(driver):
    """hooks are asked in order, with the account, and can allow everything"""
    client = begun(driver, beforeCreate="allows", beforeSignIn="allows", beforeSendMessage="allows")
    started = call(driver, client, "signUp.start", username="bob@example.com", password=PASSWORD)
    code = call(driver, client, "test.outbox", to="bob@example.com")["messages"][0]["code"]
    done = call(driver, client, "signUp.submitCode", continuationToken=started["continuationToken"], code=code)
    call(driver, client, "signIn.withContinuation", continuationToken=done["continuationToken"])
    asked = driver.result("hooks.asked", client=client)
    expect([each["hook"] for each in asked] == ["beforeSendMessage", "beforeCreate", "beforeSignIn"], f"asked were {asked}")
    expect(asked[0]["params"]["message"]["to"] == "bob@example.com", "a message has its recipient")
    expect(asked[1]["params"]["account"]["email"] == "bob@example.com", "an account has its address")
    expect(asked[2]["params"]["isNewAccount"] is True and asked[2]["params"]["amr"] == ["otp"], "a session has its methods")


def changes(driver):
    """a hook changes the display name, the picture, the claims and the claims of the session, and verifies the address"""
    client = begun(driver, beforeSignIn="changes")
    account = call(driver, client, "account.find", username=ALICE["username"])["accountId"]
    call(driver, client, "account.update", accountId=account, emailVerified=False)
    result = call(driver, client, "signIn.withPassword", **ALICE)
    attributes = {"displayName": "Hooked", "picture": "https://example.com/hooked.png"}
    expect(result["account"]["attributes"] == attributes, f"the account is {result['account']}")
    expect(result["account"]["emailVerified"] is True, f"the account is {result['account']}")
    expect(result["account"]["claims"] == {"role": "staff"}, f"the account is {result['account']}")
    claims = call(driver, client, "token.verify", token=result["idToken"], tenantId="default")["claims"]
    expect((claims.get("role"), claims.get("desk")) == ("staff", 7), f"the token contains {claims}")


def refuses(driver):
    """a hook that refuses gives its reason to the caller"""
    client = begun(driver, beforeSignIn="refuses")
    error = driver.error("answered", "call", client=client, method="signIn.withPassword", params=ALICE)
    expect(error["class"] == "RefusedByHook", f"its class is {error['class']}")
    expect(error["data"]["reason"] == "not on the list" and error["data"]["hook"] == "beforeSignIn", f"its details are {error}")


def fails(driver):
    """a hook that fails makes the operation fail, and the client still works"""
    client = begun(driver, beforeSignIn="fails")
    error = driver.error("answered", "call", client=client, method="signIn.withPassword", params=ALICE)
    expect(error["class"] == "HookFailed" and error["data"]["check"] == "error", f"it is {error}")
    expect("the directory is down" in error["message"], f"the reason is {error['message']}")
    call(driver, client, "system.ping")


def calls_the_client(driver):
    """a hook can call the client that waits for it, also while many of them wait"""
    client = begun(driver, beforeSignIn="calls")
    for answer in driver.result("many", client=client, method="signIn.withPassword", params=[ALICE] * 20):
        expect(answer.get("result", {}).get("state") == "completed", f"the sign-in failed: {answer}")
    expect(len(driver.result("hooks.asked", client=client)) >= 20, "each sign-in asks")


def without_functions(driver):
    """a client without a function for a hook is not asked"""
    client = begun(driver, beforeSignIn="allows")
    error = driver.error("answered", "call", client=client, method="hooks.set", params={"beforeCreate": PIPE})
    expect(error["class"] == "HooksNotOffered" and error["data"]["hook"] == "beforeCreate", f"it is {error}")


def only_where_possible(check):
    def run(driver):
        if driver.language in WITHOUT:
            raise NotOffered
        check(driver)
    run.__doc__ = check.__doc__
    return run


CHECKS = [only_where_possible(check) for check in (asked_in_order, changes, refuses, fails, calls_the_client, without_functions)]
