"""Checks every message that a process sends against `schemas`: results, errors and notifications.

Every schema is compiled once into functions. A function returns `None` for a valid value, otherwise a list of pairs
(JSON pointer, problem).
"""

import functools
import json
import os
import re

SCHEMAS = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))), "schemas")

# The members of a response.
RESPONSE = {"jsonrpc", "id", "result", "error", "trace"}
# The number of elements of an array that are checked. In a longer array, elements at equal distances are checked.
MOST_ELEMENTS = 1000


class ContractViolation(AssertionError):
    """The process sent a message that the schemas do not allow."""


def load(path):
    with open(os.path.join(SCHEMAS, path), encoding="utf-8") as file:
        return json.load(file)


# Compiling schemas

def compiled(schema):
    """Returns the check of a schema, as a function. It also refuses members that the schema does not contain."""
    if "$ref" in schema:
        return type_check(os.path.basename(schema["$ref"])[:-5])
    if "oneOf" in schema:
        return union_check(schema)
    if "const" in schema:
        return enumeration_check({"enum": [schema["const"]]})
    if schema["type"] == "object" and ("properties" in schema or schema.get("additionalProperties") is False):
        return object_check(schema)
    kinds = {"boolean": boolean_check, "integer": integer_check, "string": string_check, "array": array_check, "object": map_check}
    return kinds[schema["type"]](schema)


@functools.cache
def type_check(name):
    """Returns the check of a shared type. It is compiled at its first use, because types can refer to each other."""
    check = None

    def delayed(value):
        nonlocal check
        check = check or compiled(load(f"types/{name}.json"))
        return check(value)
    return delayed


def shown(value):
    return json.dumps(value, ensure_ascii=False)[:200]


def boolean_check(_):
    def check(value):
        if value is not True and value is not False:
            return [("", f"must be true or false, found {shown(value)}")]
    return check


def integer_check(schema):
    least, most = schema.get("minimum", -1 << 63), schema.get("maximum", (1 << 63) - 1)

    def check(value):
        if not (type(value) is int or type(value) is float and value.is_integer()):
            return [("", f"must be an integer, found {shown(value)}")]
        if not least <= value <= most:
            return [("", f"must be an integer from {least} to {most}, found {value}")]
    return check


def string_check(schema):
    if "enum" in schema:
        return enumeration_check(schema)
    least, most = schema.get("minLength", 0), schema.get("maxLength", 1 << 63)
    pattern = schema.get("pattern")
    matches = re.compile(pattern, re.ASCII | re.DOTALL).fullmatch if pattern else None

    def check(value):
        if type(value) is not str:
            return [("", f"must be a string, found {shown(value)}")]
        if not least <= len(value) <= most:
            return [("", f"must have {least} to {most} characters, found {len(value)}: {shown(value)}")]
        if matches and not matches(value):
            return [("", f"must match {pattern}, found {shown(value)}")]
    return check


def enumeration_check(schema):
    values = frozenset(schema["enum"])

    def check(value):
        if type(value) is not str or value not in values:
            return [("", f"must be one of {', '.join(schema['enum'])}, found {shown(value)}")]
    return check


def array_check(schema):
    element = compiled(schema["items"])
    least, most, is_unique = schema.get("minItems", 0), schema.get("maxItems", 1 << 63), schema.get("uniqueItems", False)

    def check(value):
        if type(value) is not list:
            return [("", f"must be an array, found {shown(value)}")]
        found, count = None, len(value)
        if not least <= count <= most:
            found = [("", f"must have {least} to {most} elements, found {count}")]
        for index in range(0, count, -(-count // MOST_ELEMENTS) or 1):
            if wrong := element(value[index]):
                found = (found or []) + below(index, wrong)
        if is_unique and count <= MOST_ELEMENTS and len({json.dumps(each, sort_keys=True) for each in value}) < count:
            found = (found or []) + [("", "must not have equal elements")]
        return found
    return check


def map_check(schema):
    """Returns the check of an object with arbitrary member names."""
    least, most = schema.get("minProperties", 0), schema.get("maxProperties", 1 << 63)
    names = compiled(schema["propertyNames"]) if "propertyNames" in schema else None
    values = compiled(schema["additionalProperties"]) if "additionalProperties" in schema else None

    def check(value):
        if type(value) is not dict:
            return [("", f"must be an object, found {shown(value)}")]
        found = None
        if not least <= len(value) <= most:
            found = [("", f"must have {least} to {most} members, found {len(value)}")]
        for name, member in value.items() if values else ():
            if wrong := values(member):
                found = (found or []) + below(name, wrong)
            if names and (wrong := names(name)):
                found = (found or []) + [(pointer(name), f"has a name that {what}") for _, what in wrong]
        return found
    return check


def object_check(schema):
    """Returns the check of an object with known members."""
    members = {name: compiled(each) for name, each in schema.get("properties", {}).items()}
    required = frozenset(schema.get("required", ()))
    choices = [(rule, frozenset(names)) for choice in schema.get("choices", {}).values() for rule, names in choice.items()]
    is_kept = {"exactlyOne": lambda count: count == 1, "atLeastOne": lambda count: count > 0, "atMostOne": lambda count: count < 2}

    def check(value):
        if type(value) is not dict:
            return [("", f"must be an object, found {shown(value)}")]
        found = None
        for name, member in value.items():
            each = members.get(name)
            if each is None:
                found = (found or []) + [(pointer(name), f"is not in the schema, which allows {', '.join(members) or 'no members'}")]
            elif wrong := each(member):
                found = (found or []) + below(name, wrong)
        if not required <= value.keys():
            found = (found or []) + [(pointer(name), "is missing") for name in sorted(required - value.keys())]
        for rule, names in choices:
            if not is_kept[rule](len(names & value.keys())):
                found = (found or []) + [("", f"must have {rule} of {', '.join(sorted(names))}")]
        return found
    return check


def union_check(schema):
    """Returns the check of an object whose discriminator determines its other members: it must match this variant exactly."""
    discriminator = schema["discriminator"]["propertyName"]
    variants = {each["properties"][discriminator]["const"]: compiled(each) for each in schema["oneOf"]}

    def check(value):
        if type(value) is not dict:
            return [("", f"must be an object, found {shown(value)}")]
        name = value.get(discriminator)
        if type(name) is not str or name not in variants:
            return [(pointer(discriminator), f"must be one of {', '.join(variants)}, found {shown(name)}")]
        return [(path, f"{what} (for {discriminator} {name})") for path, what in variants[name](value) or ()] or None
    return check


def pointer(name):
    """Returns a member name or an index as a segment of a JSON pointer (RFC 6901)."""
    return "/" + str(name).replace("~", "~0").replace("/", "~1")


def below(name, wrong):
    return [(pointer(name) + path, what) for path, what in wrong]


# The contract

class Method:
    """A method of the contract."""

    def __init__(self, schema):
        self.errors = frozenset(schema["errors"])
        self.result = compiled(schema["result"])
        self.progress = compiled(schema["progress"]) if "progress" in schema else None


@functools.cache
def method(name):
    """Returns a method, or `None` if there is no such method."""
    return Method(load(f"methods/{name}.json")) if name in method_names() else None


@functools.cache
def method_names():
    return frozenset(name[:-5] for name in os.listdir(os.path.join(SCHEMAS, "methods")))


@functools.cache
def messages(folder):
    """Returns the check of the parameters of each message to the host: of notifications, or of requests in the folder hooks."""
    found = (load(f"{folder}/{name}") for name in os.listdir(os.path.join(SCHEMAS, folder)))
    return {schema["name"]: compiled(schema["params"]) for schema in found}


@functools.cache
def errors():
    """Returns the code of each error type, and the check of its data."""
    found = {}
    for entry in load("errors.json")["errors"]:
        data, more = entry["data"], {"type": {"type": "string"}}
        if "retryAfterSeconds" in entry:
            more["retryAfterSeconds"] = {"type": "integer", "minimum": 0}
        schema = {**data, "properties": {**data.get("properties", {}), **more}, "required": [*data.get("required", []), *more]}
        found[entry["type"]] = entry["code"], compiled(schema)
    return found


@functools.cache
def general_errors():
    """Returns the types of the errors that any method can return: those of JSON-RPC and of the connection, and those that mean
    that the store cannot be used. A method declares the other errors of the blocks 1xxx and 8xxx, such as `invalidCursor` and
    `messageNotSent`."""
    return frozenset(
        entry["type"] for entry in load("errors.json")["errors"]
        if entry["code"] < 0 or 1000 <= entry["code"] < 2000 and entry["type"] != "invalidCursor" or entry.get("storeError"))


# The messages of one process

class Checker:
    """The requests to one process that have no response yet, and the check of its messages."""

    def __init__(self):
        self._methods = {}   # The methods of the requests without a response and the number of these requests, by request ID.
        self._progress = {}   # The methods of the requests with a progress token, by token.
        self._injected = set()   # The pairs of method and error that `test.fault` has injected.
        self._written = []   # The bytes that are not parsed yet.

    # Requests

    def sends(self, id, name, params=None, progressToken=None):
        """Records a request."""
        waiting = self._methods.setdefault(id, {})
        waiting[name] = waiting.get(name, 0) + 1
        if progressToken is not None:
            self._progress[progressToken] = name
        if name == "test.fault" and isinstance(params, dict):
            self._injected.add((str(params.get("method")), str(params.get("error"))))

    def writes(self, data):
        """Records bytes that can contain requests. They are parsed when the next message is checked."""
        self._written.append(bytes(data))

    def _read_written(self):
        written, self._written = self._written, []
        *lines, rest = b"".join(written).split(b"\n")
        for line in lines:
            self._read_line(line)
        # The last line can be the beginning of a line, or a complete line before the end of input.
        if rest and not self._read_line(rest):
            self._written.insert(0, rest)

    def _read_line(self, line):
        """Records the requests in a line. Returns whether the line is JSON. Tests also write lines that are not."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return False
        for each in message if isinstance(message, list) else [message]:
            if isinstance(each, dict) and "id" in each and isinstance(each.get("method"), str) and not isinstance(each["id"], (dict, list)):
                token = each.get("progressToken")
                self.sends(each["id"], each["method"], each.get("params"), token if isinstance(token, (str, int)) else None)
        return True

    # Messages

    def check(self, message):
        """Checks one message, parsed.

        - Throws: `ContractViolation`, with all problems.
        """
        if self._written:
            self._read_written()
        for each in message if isinstance(message, list) else [message]:
            wrong = self._problem(each)
            if wrong:
                raise ContractViolation(wrong)

    def _problem(self, message):
        """Returns the problem of a response or notification, as a text, or `None`."""
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            return f"The message is not JSON-RPC 2.0: {shown(message)}"
        if "method" in message:
            return self._host_request_problem(message) if "id" in message else self._notification_problem(message)
        members = message.keys()
        if "id" not in members or ("result" in members) == ("error" in members) or not members <= RESPONSE:
            return f"The response must have exactly jsonrpc, id, result or error, and trace if the request had one: {shown(message)}"
        id = message["id"]
        # Several requests with the same ID can be pending. The response must be valid for one of them.
        waiting = self._methods.get(id)
        if not waiting:
            return self._response_problem(None, message, is_known=id is None)
        problem = None
        for name in waiting:
            wrong = self._response_problem(name, message)
            if not wrong:
                problem = None
                break
            problem = problem or wrong
        waiting[name] -= 1
        if not waiting[name]:
            del waiting[name]
        if not waiting:
            del self._methods[id]
        return problem

    def _response_problem(self, name, message, is_known=True):
        """Returns the problem of a response to a method. `name` is `None` if the method is unknown, for example after a line that is
        not JSON. `is_known` is false if the request was not written with this class."""
        known = method(name) if name is not None else None
        if "error" in message:
            return self._error_problem(name, known, message["error"], is_known)
        if known:
            wrong = known.result(message["result"])
            return listed(f"The result of {name} does not match `result` in schemas/methods/{name}.json", wrong)
        if name is not None:
            return f"{name} returned a result, but there is no schemas/methods/{name}.json: {shown(message['result'])}"
        return None

    def _error_problem(self, name, known, error, is_known):
        place = f"{name} returned an error" if name is not None else "A response to a message without a method is an error"
        if not isinstance(error, dict) or error.keys() != {"code", "message", "data"} or not isinstance(error["data"], dict):
            return f"{place} that is not an object with exactly code, message and data: {shown(error)}"
        kind = error["data"].get("type")
        if kind not in errors():
            return f"{place} of the type {kind}, which is not in schemas/errors.json: {shown(error)}"
        code, data = errors()[kind]
        if error["code"] != code or not isinstance(error["message"], str) or not error["message"].strip():
            return f"{place} of the type {kind} that must have the code {code} and a message: {shown(error)}"
        own = known.errors if known else frozenset()
        if is_known and kind not in own and kind not in general_errors() and (name, kind) not in self._injected:
            declared = f"The file declares: {', '.join(sorted(own)) or 'no errors'}." if known else "There is no such file."
            return (f"{name} returned the error {kind}, which `errors` in schemas/methods/{name}.json does not declare. {declared} "
                    f"Any method can return: {', '.join(sorted(general_errors()))}. The error: {shown(error)}")
        return listed(f"{place} of the type {kind} whose data does not match schemas/errors.json", data(error["data"]))

    def _host_request_problem(self, message):
        name, check = message["method"], messages("hooks").get(message["method"])
        if message.keys() != {"jsonrpc", "id", "method", "params"} or not isinstance(message["id"], str) or not check:
            return f"The request to the host must be in schemas/hooks, and have exactly jsonrpc, id, method and params: {shown(message)}"
        return listed(f"The parameters of the request {name} to the host do not match its schema", check(message["params"]))

    def _notification_problem(self, message):
        name, params = message["method"], message.get("params")
        if not message.keys() <= {"jsonrpc", "method", "params"}:
            return f"The notification {name} must have exactly jsonrpc, method and params: {shown(message)}"
        if name == "$/progress":
            return self._progress_problem(params)
        check = messages("notifications").get(name)
        if not check:
            allowed = ", ".join(["$/progress", *sorted(messages("notifications"))])
            return f"The notification {name} is not in schemas/notifications. Allowed are: {allowed}."
        return listed(f"The parameters of the notification {name} do not match its schema", check(params))

    def _progress_problem(self, params):
        if not isinstance(params, dict) or params.keys() != {"token", "value"}:
            return f"The parameters of $/progress must have exactly token and value: {shown(params)}"
        name = self._progress.get(params["token"])
        if name is None:
            return None   # The request was not written with this class.
        check = method(name).progress if method(name) else None
        if not check:
            return f"{name} reported progress, but schemas/methods/{name}.json has no `progress`: {shown(params)}"
        return listed(f"The progress of {name} does not match `progress` in schemas/methods/{name}.json", check(params["value"]))


def listed(head, wrong):
    """Returns a text with the first ten problems, or `None` if there are none."""
    return f"{head}: " + "; ".join(f"{path or 'it'} {what}" for path, what in wrong[:10]) if wrong else None
