"""Programs that replace Mintmark in tests that need faulty behavior or another version."""

import os
import sys
import textwrap

# A version that is at least that of every contract.
NEWEST = "999.0.0"


def stand_in(driver, body, version=NEWEST, methods="system.info system.ping"):
    """Creates a program that runs `body` for each request `m`. `body` can call `answer(**members)` and build a pool with
    `pool(**members)`. The program itself handles the requests in `methods`.

    It records the messages that it receives in the file `seen` in the same folder.
    """
    path = os.path.join(driver.folder, "stand-in")
    return write(path, f"""
        import json, os, sys, time
        seen = open({os.path.join(driver.folder, "seen")!r}, "a", buffering=1)
        def send(message): print(json.dumps(message), flush=True)
        def answer(**members): send({{"jsonrpc": "2.0", "id": m.get("id"), **members}})
        info = {{"name": "mintmark", "version": {version!r}, "schemaVersion": 1, "storeKind": "memory", "testing": True, "issuer": "https://a.example",
                "region": "local-1", "account": "000000000000", "caller": "developer", "methods": 1, "startedAt": 1}}
        def pool(**members): return {{"arn": "arn:p", "issuer": "https://a.example/p", "allowUnauthenticated": False, "allowClassicFlow": False,
                "providers": [], "signingAlgorithm": "ES256", "tags": {{}}, "createdAt": 1, "updatedAt": 1, **members}}
        own = {{"system.info": info, "system.ping": {{"now": 1}}}}
        for line in sys.stdin:
            seen.write(line)
            m = json.loads(line)
            if m["method"] in {methods.split()!r}:
                answer(result=own[m["method"]])
                continue
    """, body)


def write(path, head, body=""):
    """Writes an executable Python program."""
    text = textwrap.dedent(head).strip() + "\n" + textwrap.indent(textwrap.dedent(body).strip(), "    ") + "\n"
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"#!{sys.executable}\n{text}")
    os.chmod(path, 0o755)
    return path


def seen(driver):
    """Returns the lines that the program has received."""
    path = os.path.join(driver.folder, "seen")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()
