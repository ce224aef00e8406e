"""The members that MSAL for iOS, Android and JavaScript require in each response of the native authentication API, by endpoint.

A member that a client knows must have the type that the client reads: MSAL for iOS discards a response with a wrong type."""

import base64
import json
import re

TEXT = {"continuation_token", "challenge_type", "binding_method", "challenge_channel", "challenge_target_label", "challenge_target",
        "redirect_reason", "status", "token_type", "scope", "access_token", "id_token", "refresh_token", "client_info", "error", "suberror",
        "error_description", "timestamp", "trace_id", "correlation_id"}
INTEGERS = {"code_length", "interval", "expires_in", "ext_expires_in", "poll_interval"}
LISTS = {"methods", "required_attributes", "invalid_attributes", "unverified_attributes", "error_codes"}
CT = {"continuation_token"}
SENT = CT | {"challenge_type", "binding_method", "challenge_channel", "code_length", "interval"}
TOKENS = {"token_type", "scope", "expires_in", "ext_expires_in", "access_token", "client_info"}
METHOD = {"id", "challenge_type", "challenge_channel", "login_hint"}
# Errors that carry a continuation token, by the error or its suberror.
CARRYING = {"verification_required", "credential_required", "attributes_required", "mfa_required", "registration_required"}
# The endpoints at which a client takes every response with status 200 for success.
NEVER_REDIRECT = {"signup/v1.0/continue", "resetpassword/v1.0/continue", "resetpassword/v1.0/submit", "resetpassword/v1.0/poll_completion",
                  "register/v1.0/continue"}
STARTS = {"signup/v1.0/start", "oauth2/v2.0/initiate", "resetpassword/v1.0/start"}


class Wrong(AssertionError):
    pass


def need(condition, reason, answer):
    if not condition:
        raise Wrong(f"{reason}: {answer}")


def is_int(value):
    return type(value) is int


def types(answer):
    """Checks the types of all known members, and that there are no others."""
    for name, value in answer.items():
        need(name in TEXT | INTEGERS | LISTS, f"{name} is not a member of the API", answer)
        if name in TEXT:
            need(isinstance(value, str) and value, f"{name} is not text, or empty", answer)
        elif name in INTEGERS:
            need(is_int(value), f"{name} is not an integer", answer)
        else:
            need(isinstance(value, list) and value, f"{name} is not a list, or empty", answer)


def exactly(answer, required, optional=()):
    names = set(answer)
    need(required <= names <= required | set(optional), f"members must be {sorted(required)}", answer)


def challenge(path, answer):
    kind = answer.get("challenge_type")
    if kind == "password":
        need(path in ("signup/v1.0/challenge", "oauth2/v2.0/challenge"), "no password here", answer)
        return exactly(answer, CT | {"challenge_type"})
    if kind == "preverified":
        need(path.startswith("register"), "preverified only at registration", answer)
        return exactly(answer, CT | {"challenge_type"})
    need(kind == "oob", "unknown challenge_type", answer)
    exactly(answer, SENT | {"challenge_target" if path.startswith("register") else "challenge_target_label"})
    need(answer["binding_method"] == "prompt" and answer["challenge_channel"] in ("email", "sms"), "binding or channel", answer)
    need(answer["code_length"] > 0 and answer["interval"] >= 0, "code_length or interval", answer)
    if "challenge_target_label" in answer:
        need("*" in answer["challenge_target_label"], "the target is not masked", answer)


def introspect(path, answer):
    exactly(answer, CT | {"methods"})
    for method in answer["methods"]:
        need(set(method) == METHOD and all(isinstance(value, str) for value in method.values()), "method", answer)
        need(method["id"] and method["challenge_type"] == "oob" and method["challenge_channel"] in ("email", "sms"), "method", answer)


def token(path, answer):
    exactly(answer, TOKENS, {"id_token", "refresh_token"})
    need(answer["token_type"] == "Bearer" and answer["expires_in"] > 0 and answer["expires_in"] == answer["ext_expires_in"], "token", answer)
    scopes = answer["scope"].split()
    need(("id_token" in answer) == ("openid" in scopes), "id_token goes with openid", answer)
    need(("refresh_token" in answer) == ("offline_access" in scopes), "refresh_token goes with offline_access", answer)
    info = answer["client_info"]
    need("=" not in info, "client_info has padding", answer)
    info = json.loads(base64.urlsafe_b64decode(info + "=" * (-len(info) % 4)))
    need(set(info) == {"uid", "utid"} and info["uid"] and info["utid"], "client_info", answer)


def poll(path, answer):
    need(answer.get("status") in ("succeeded", "in_progress", "not_started", "failed"), "status", answer)
    exactly(answer, {"status"} | (CT if answer["status"] == "succeeded" else set()))


def reset_continue(path, answer):
    exactly(answer, CT | {"expires_in"})
    need(1 <= answer["expires_in"] <= 600, "expires_in", answer)


def submit(path, answer):
    exactly(answer, CT | {"poll_interval"})
    need(1 <= answer["poll_interval"] <= 15, "poll_interval", answer)


def only_token(path, answer):
    exactly(answer, CT)


GOOD = {
    "signup/v1.0/start": only_token, "signup/v1.0/challenge": challenge, "signup/v1.0/continue": only_token,
    "oauth2/v2.0/initiate": only_token, "oauth2/v2.0/challenge": challenge, "oauth2/v2.0/introspect": introspect, "oauth2/v2.0/token": token,
    "resetpassword/v1.0/start": only_token, "resetpassword/v1.0/challenge": challenge, "resetpassword/v1.0/continue": reset_continue,
    "resetpassword/v1.0/submit": submit, "resetpassword/v1.0/poll_completion": poll,
    "register/v1.0/introspect": introspect, "register/v1.0/challenge": challenge, "register/v1.0/continue": only_token,
}


def good(path, answer):
    """Checks a response with status 200."""
    types(answer)
    if answer.get("challenge_type") == "redirect":
        need(path not in NEVER_REDIRECT, "redirect at an endpoint that cannot redirect", answer)
        return exactly(answer, {"challenge_type", "redirect_reason"})
    GOOD[path](path, answer)


def bad(path, form, answer, headers):
    """Checks a response with an error."""
    types(answer)
    # A refresh has no flow that could continue.
    carries = form.get("grant_type") != "refresh_token" and {answer.get("error"), answer.get("suberror")} & CARRYING
    exactly(answer, {"error", "error_description", "error_codes", "timestamp", "trace_id", "correlation_id"} | (CT if carries else set()),
            {"suberror", "required_attributes", "invalid_attributes", "unverified_attributes"})
    need(all(is_int(code) for code in answer["error_codes"]), "error_codes", answer)
    need(answer["error_description"].startswith(f"AADSTS{answer['error_codes'][0]}: "), "error_description", answer)
    need(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ", answer["timestamp"]), "timestamp", answer)
    need(answer["trace_id"] == headers["x-ms-request-id"] and answer["correlation_id"] == headers["client-request-id"], "ids", answer)
    need(("required_attributes" in answer) == (answer["error"] == "attributes_required"), "required_attributes", answer)
    need(("unverified_attributes" in answer) == (answer["error"] == "verification_required"), "unverified_attributes", answer)
    need(("invalid_attributes" in answer) == (answer.get("suberror") == "attribute_validation_failed"), "invalid_attributes", answer)
    for attribute in answer.get("required_attributes", []):
        need({"name", "type", "required"} <= set(attribute) <= {"name", "type", "required", "options"}, "attribute", answer)
        need(attribute["type"] in ("string", "boolean", "integer") and type(attribute["required"]) is bool, "attribute", answer)
    for attribute in answer.get("invalid_attributes", []) + answer.get("unverified_attributes", []):
        need(set(attribute) == {"name"} and attribute["name"], "attribute", answer)
