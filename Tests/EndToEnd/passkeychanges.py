"""Changes of one field of a response, for tests of passkeys. A response is made of parts, which a change can alter first."""

import copy
import json
import struct

import cbor2

from authenticators import AT, BE, BS, ORIGIN, UP, UV, b64, unb64

ED = 128


def encoded(parts, id):
    response = {"clientDataJSON": b64(parts["client"])}
    if "statement" in parts:
        response["attestationObject"] = b64(cbor2.dumps(
            {"fmt": parts["format"], "attStmt": parts["statement"], "authData": parts["data"]}) + parts.get("trailer", b""))
    else:
        response |= {"authenticatorData": b64(parts["data"]), "signature": b64(parts["signature"])}
        if parts["handle"]:
            response["userHandle"] = parts["handle"]
    return {"id": b64(id), "rawId": b64(id), "type": "public-key", "clientExtensionResults": {}, "response": response}


def client_changes(chance):
    def set(member, value):
        def change(client):
            members = json.loads(client)
            members[member] = value
            return json.dumps(members).encode()
        return change

    def drop(member):
        return lambda client: json.dumps({name: value for name, value in json.loads(client).items() if name != member}).encode()

    flipped = chance.randbytes(32)
    return [
        ("kind", set("type", "webauthn.other")), ("kind empty", set("type", "")), ("kind missing", drop("type")), ("kind number", set("type", 1)),
        ("challenge", set("challenge", b64(flipped))), ("challenge missing", drop("challenge")), ("challenge padded", set("challenge", b64(flipped) + "=")),
        ("challenge empty", set("challenge", "")),
        ("origin", set("origin", "https://evil.example")), ("origin slash", set("origin", ORIGIN + "/")), ("origin case", set("origin", ORIGIN.upper())),
        ("origin http", set("origin", ORIGIN.replace("https", "http"))), ("origin port", set("origin", ORIGIN + ":444")), ("origin missing", drop("origin")),
        ("origin prefix", set("origin", ORIGIN + ".evil.example")), ("origin null", set("origin", None)),
        ("crossOrigin", set("crossOrigin", True)), ("crossOrigin text", set("crossOrigin", "no")),
        ("topOrigin", set("topOrigin", "https://evil.example")),
        ("tokenBinding", set("tokenBinding", {"status": "present", "id": "AAAA"})),
        ("unknown", set("somethingNew", {"a": [1]})),
        ("duplicate", lambda client: client[:-1] + b', "type": "webauthn.other"}'),
        ("trailer", lambda client: client + b"x"), ("client cut", lambda client: client[:-1]), ("client list", lambda client: b"[" + client + b"]"),
        ("client empty", lambda client: b"{}"),
    ]


def flipped(data, chance, at=None):
    data, place = bytearray(data), chance.randrange(len(data)) if at is None else at
    data[place] ^= 1 << chance.randrange(8)
    return bytes(data)


def with_parts(edit):
    def change(parts, id):
        parts = copy.deepcopy(parts)
        edit(parts)
        return encoded(parts, id)
    return change


def editing(member, edit):
    return with_parts(lambda parts: parts.update({member: edit(parts[member])}))


def on_wire(edit):
    def change(parts, id):
        response = encoded(parts, id)
        edit(response)
        return response
    return change


def response_member(name, value):
    return on_wire(lambda response: response["response"].update({name: value(response["response"][name])}))


def common(chance):
    changes = [(name, editing("client", edit)) for name, edit in client_changes(chance)]
    changes += [(f"hash {place}", editing("data", lambda data, place=place: flipped(data, chance, place))) for place in chance.sample(range(32), 3)]
    changes += [
        ("present", editing("data", lambda data: data[:32] + bytes([data[32] & ~UP]) + data[33:])),
        ("flags state", editing("data", lambda data: data[:32] + bytes([(data[32] | BS) & ~BE]) + data[33:])),
        ("flags eligible", editing("data", lambda data: data[:32] + bytes([data[32] ^ BE]) + data[33:])),
        ("flags extensions", editing("data", lambda data: data[:32] + bytes([data[32] ^ ED]) + data[33:])),
        ("flags attested", editing("data", lambda data: data[:32] + bytes([data[32] ^ AT]) + data[33:])),
        ("counter", editing("data", lambda data: flipped(data, chance, 33 + chance.randrange(4)))),
        ("data cut", editing("data", lambda data: data[:chance.randrange(len(data))])),
        ("data trailer", editing("data", lambda data: data + b"\0")),
        ("id other", on_wire(lambda response: response.update(id=b64(b"other"), rawId=b64(b"other")))),
        ("id differs", on_wire(lambda response: response.update(id=b64(b"other")))),
        ("type", on_wire(lambda response: response.update(type="password"))),
        ("padding client", response_member("clientDataJSON", lambda text: text + "=")),
        ("padding id", on_wire(lambda response: response.update(id=response["id"] + "=", rawId=response["rawId"] + "="))),
    ]
    return changes


def registrations(chance):
    def with_key(edit):
        def change(parts):
            at = 55 + struct.unpack(">H", parts["data"][53:55])[0]
            stream = cbor2.loads(parts["data"][at:])
            parts["data"] = parts["data"][:at] + cbor2.dumps(edit(stream))
        return with_parts(change)

    def statement(edit):
        return with_parts(lambda parts: parts["statement"].update(edit(parts["statement"])))

    return common(chance) + [
        ("key algorithm", with_key(lambda key: {**key, 3: -36})), ("key type", with_key(lambda key: {**key, 1: 9})),
        ("key curve", with_key(lambda key: {**key, -1: 3})), ("key short", with_key(lambda key: {**key, -2: b"\1" * 31})),
        ("key private", with_key(lambda key: {**key, -4: b"\1" * 32})), ("key missing", with_key(lambda key: {1: key[1], 3: key[3]})),
        ("key point", with_key(lambda key: {**key, -2: b"\1" * 32})),
        ("aaguid", editing("data", lambda data: flipped(data, chance, 37 + chance.randrange(16)))),
        ("format", with_parts(lambda parts: parts.update(format="other"))), ("format case", with_parts(lambda parts: parts.update(format="Packed"))),
        ("statement signature", statement(lambda given: {"sig": flipped(given["sig"], chance)} if "sig" in given else {"sig": b""})),
        ("statement algorithm", statement(lambda given: {"alg": -8 if given.get("alg") != -8 else -7})),
        ("statement certificate", statement(lambda given: {"x5c": [flipped(given["x5c"][0], chance)] if "x5c" in given else [b"x"]})),
        ("statement certificates", statement(lambda given: {"x5c": []})),
        ("statement more", statement(lambda given: {"ecdaaKeyId": b"x"})),
        ("trailer object", with_parts(lambda parts: parts.update(trailer=b"\0"))),
        ("data key", editing("data", lambda data: flipped(data, chance, chance.randrange(55, len(data))))),
        ("object cut", response_member("attestationObject", lambda text: b64(unb64(text)[:-1]))),
        ("transports", on_wire(lambda response: response["response"].update(transports=["usb", "usb"]))),
        ("padding object", response_member("attestationObject", lambda text: text + "==")),
    ]


def uses(chance):
    return common(chance) + [
        ("signature flipped", editing("signature", lambda signature: flipped(signature, chance))),
        ("signature cut", editing("signature", lambda signature: signature[:-1])),
        ("signature longer", editing("signature", lambda signature: signature + b"\0")),
        ("signature empty", editing("signature", lambda signature: b"\0")),
        ("handle other", with_parts(lambda parts: parts.update(handle=b64(b"other")))), ("handle missing", with_parts(lambda parts: parts.update(handle=None))),
        ("handle padded", with_parts(lambda parts: parts.update(handle=parts["handle"] + "="))),
        ("verified", editing("data", lambda data: data[:32] + bytes([data[32] ^ UV]) + data[33:])),
        ("extension", on_wire(lambda response: response.update(clientExtensionResults={"appid": True}))),
        ("padding signature", response_member("signature", lambda text: text + "==")),
    ]
