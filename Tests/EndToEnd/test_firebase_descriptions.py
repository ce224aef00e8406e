"""The descriptions of the Identity Toolkit API that google-api-python-client contains: requests are generated from them, and every answer
must match them."""

import json
import os
import random
import unittest
import urllib.parse

import googleapiclient

from endtoend import only
from firebase import PROJECT, FirebaseProject

FOLDER = os.path.join(os.path.dirname(googleapiclient.__file__), "discovery_cache/documents")
# Members that the web SDK or the emulator needs and that the descriptions do not have.
EXTRA = {"kind"}
# The older address answers as version 1.
LATER = {"lastRefreshAt"}
# The emulator adds the ID to the answer to a custom token.
WITH_ID = {"identitytoolkit.accounts.signInWithCustomToken", "identitytoolkit.relyingparty.verifyCustomToken"}
OFFERED = {200, 400, 401, 403, 404, 409, 501}


class Description:
    def __init__(self, version):
        with open(os.path.join(FOLDER, f"identitytoolkit.{version}.json"), encoding="utf-8") as file:
            self.document = json.load(file)
        base = urllib.parse.urlsplit(self.document["baseUrl"])
        self.prefix = f"/{base.netloc}{base.path}"
        self.methods = {}
        self.walk(self.document)

    def walk(self, resource):
        for method in resource.get("methods", {}).values():
            self.methods[method["id"]] = method
        for inner in resource.get("resources", {}).values():
            self.walk(inner)

    def path(self, method, chance):
        values = {"targetProjectId": PROJECT, "tenantId": "none", "project": f"projects/{PROJECT}", "parent": f"projects/{PROJECT}",
                  "resource": f"projects/{PROJECT}/tenants/none"}
        path = method["path"]
        kind = method["id"].split(".")[-2]
        inner = {"tenants": "tenants/none", "projects": "config"}.get(kind, f"{kind}/{'saml' if 'Saml' in kind else 'oidc'}.x")
        values["name"] = f"projects/{PROJECT}/{inner}"
        for name in method.get("parameters", {}):
            path = path.replace("{+%s}" % name, values.get(name, "x")).replace("{%s}" % name, values.get(name, "x"))
        query = {name: self.value(parameter, chance, 0) for name, parameter in method.get("parameters", {}).items()
                 if parameter["location"] == "query" and chance.random() < 0.5}
        return self.prefix + path + "?" + urllib.parse.urlencode({name: json.dumps(v) if not isinstance(v, str) else v for name, v in query.items()})

    def value(self, schema, chance, depth):
        """Returns a random value of a schema."""
        if "$ref" in schema:
            schema = self.document["schemas"][schema["$ref"]]
        if "enum" in schema:
            return chance.choice(schema["enum"])
        kind = schema.get("type")
        if kind == "object":
            if depth > 3:
                return {}
            if "additionalProperties" in schema:
                return {chance.choice(["a", "+15555550100"]): self.value(schema["additionalProperties"], chance, depth + 1)}
            properties = {name: inner for name, inner in schema.get("properties", {}).items() if not inner.get("readOnly")}
            names = chance.sample(sorted(properties), min(len(properties), chance.randrange(6)))
            return {name: self.value(properties[name], chance, depth + 1) for name in names}
        if kind == "array":
            return [self.value(schema["items"], chance, depth + 1) for _ in range(chance.randrange(3))]
        if kind == "boolean":
            return chance.choice([True, False])
        if kind in ("integer", "number"):
            return chance.choice([0, 1, 300, 10_000])
        if schema.get("format") in ("int64", "uint64"):
            return str(chance.choice([0, 1, 300, 1_700_000_000]))
        if schema.get("format") == "byte":
            return "c2VjcmV0"
        return chance.choice(["", "x", "alice@example.com", "secret-1", "+15555550100", "oidc.x", "http://localhost", '{"sub":"1"}',
                              "providerId=google.com&id_token=%7B%22sub%22%3A%221%22%7D", "a" * 200, "ü\u0001"])

    def flaws(self, value, schema, place=""):
        """Returns what in an answer contradicts its schema."""
        if "$ref" in schema:
            schema = self.document["schemas"][schema["$ref"]]
        kind = schema.get("type", "any")
        if kind == "any":
            return []
        wanted = {"object": dict, "array": list, "boolean": bool, "string": str, "integer": int, "number": (int, float)}[kind]
        if not isinstance(value, wanted) or kind in ("integer", "number") and isinstance(value, bool):
            return [f"{place}: {value!r} is no {kind}"]
        if kind == "array":
            return [flaw for number, each in enumerate(value) for flaw in self.flaws(each, schema["items"], f"{place}/{number}")]
        if kind == "object" and "properties" in schema:
            known = schema["properties"]
            return [f"{place}/{name} is unknown" for name in value if name not in known and name not in EXTRA | LATER] + [
                flaw for name, each in value.items() if name in known for flaw in self.flaws(each, known[name], f"{place}/{name}")]
        if kind == "object" and "additionalProperties" in schema:
            return [flaw for name, each in value.items() for flaw in self.flaws(each, schema["additionalProperties"], f"{place}/{name}")]
        if kind == "string" and schema.get("format") in ("int64", "uint64") and not value.lstrip("-").isdigit():
            return [f"{place}: {value!r} is no {schema['format']}"]
        if kind == "string" and "enum" in schema and value not in schema["enum"]:
            return [f"{place}: {value!r} is not one of {schema['enum']}"]
        return []


class Descriptions(FirebaseProject):
    def check(self, description, name, answer):
        response = description.methods[name].get("response")
        if name in WITH_ID:
            answer = {member: value for member, value in answer.items() if member != "localId"}
        self.assertEqual(description.flaws(answer, response) if response else [], [], name)

    @only("sqlite")
    def test_generated_requests_get_described_responses(self):
        """Every method of the three versions is known: 404 is never the answer to a path, only to a resource."""
        chance, offered, refused = random.Random(11), set(), set()
        for version in ("v1", "v2", "v3"):
            description = Description(version)
            for name, method in sorted(description.methods.items()):
                for number in range(8):
                    body = description.value({"$ref": method["request"]["$ref"]}, chance, 0) if "request" in method else None
                    is_admin = "projects" in method["path"] or "{+" in method["path"] or number % 2
                    path = description.path(method, chance) + ("" if is_admin else "&key=k")
                    status, answer = self.request(
                        path, body, method=method["httpMethod"], headers={"authorization": "Bearer owner"} if is_admin else {})
                    with self.subTest(name=name, path=path, body=json.dumps(body)[:400], answer=answer):
                        self.assertIn(status, OFFERED)
                        if status == 200:
                            self.check(description, name, answer)
                            offered.add(name)
                        else:
                            self.assertEqual((answer["error"]["code"], answer["error"]["errors"][0]["message"]), (status, answer["error"]["message"]))
                            self.assertNotEqual(answer["error"]["message"], "Not Found")
                            if status == 501:
                                refused.add(name)
        self.assertFalse(offered & refused - {"identitytoolkit.accounts.signInWithIdp", "identitytoolkit.accounts.createAuthUri"})
        self.assertGreater(len(offered), 30, offered)

    @only("sqlite")
    def test_answers_to_the_calls_of_an_application_match_the_descriptions(self):
        one, two = Description("v1"), Description("v2")

        def client(name, description=one, **body):
            method = description.methods["identitytoolkit." + name]
            status, answer = self.request(description.prefix + method["path"] + "?key=k", body)
            self.assertEqual(status, 200, answer)
            self.check(description, "identitytoolkit." + name, answer)
            return answer

        def admin(call, body=None, description=one, **values):
            method = description.methods["identitytoolkit." + call]
            path = method["path"]
            for key, value in {"targetProjectId": PROJECT, **values}.items():
                path = path.replace("{+%s}" % key, value)
            query = {key: value for key, value in values.items() if "{+%s}" % key not in method["path"]}
            status, answer = self.request(
                f"{description.prefix}{path}?{urllib.parse.urlencode(query)}", body, method=method["httpMethod"], headers={"authorization": "Bearer owner"})
            self.assertEqual(status, 200, answer)
            self.check(description, "identitytoolkit." + call, answer)
            return answer

        made = client("accounts.signUp", email="carol@example.com", password="secret-1", displayName="Carol", returnSecureToken=True)
        client("accounts.signUp", returnSecureToken=True)
        client("accounts.lookup", idToken=made["idToken"])
        client("accounts.update", idToken=made["idToken"], displayName="C", photoUrl="https://example.com/c.png", returnSecureToken=True)
        session = client("accounts.signInWithPassword", email="carol@example.com", password="secret-1", returnSecureToken=True)
        client("accounts.createAuthUri", identifier="carol@example.com", continueUri="http://localhost")
        client("accounts.sendOobCode", requestType="VERIFY_EMAIL", idToken=session["idToken"])
        admin("projects.accounts.sendOobCode", {"requestType": "PASSWORD_RESET", "email": "carol@example.com", "returnOobLink": True})
        code = admin("projects.accounts.sendOobCode", {"requestType": "VERIFY_EMAIL", "email": "carol@example.com", "returnOobLink": True})
        client("accounts.resetPassword", oobCode=code["oobCode"])
        client("accounts.update", oobCode=code["oobCode"])
        client("accounts.signInWithIdp", requestUri="http://localhost", returnIdpCredential=True,
               postBody='providerId=google.com&id_token={"sub":"1","email":"d@example.com","email_verified":true,"name":"D"}')
        phone = client("accounts.sendVerificationCode", phoneNumber="+15555550101")
        sms = {each["sessionInfo"]: each["code"] for each in self.request(f"/emulator/v1/projects/{PROJECT}/verificationCodes")[1]["verificationCodes"]}
        client("accounts.signInWithPhoneNumber", sessionInfo=phone["sessionInfo"], code=sms[phone["sessionInfo"]])
        client("accounts.signInWithCustomToken", token='{"uid":"dora","claims":{"a":1}}')
        link = admin("projects.accounts.sendOobCode", {"requestType": "EMAIL_SIGNIN", "email": "e@example.com", "returnOobLink": True})
        client("accounts.signInWithEmailLink", email="e@example.com", oobCode=link["oobCode"])
        started = client("accounts.mfaEnrollment.start", two, idToken=session["idToken"], phoneEnrollmentInfo={"phoneNumber": "+15555550100"})
        info = started["phoneSessionInfo"]["sessionInfo"]
        sms = {each["sessionInfo"]: each["code"] for each in self.request(f"/emulator/v1/projects/{PROJECT}/verificationCodes")[1]["verificationCodes"]}
        client("accounts.mfaEnrollment.finalize", two, idToken=session["idToken"], phoneVerificationInfo={"sessionInfo": info, "code": sms[info]})
        pending = client("accounts.signInWithPassword", email="carol@example.com", password="secret-1")
        client("accounts.mfaSignIn.start", two, mfaPendingCredential=pending["mfaPendingCredential"], mfaEnrollmentId=pending["mfaInfo"][0]["mfaEnrollmentId"],
               phoneSignInInfo={})
        admin("projects.accounts.lookup", {"email": ["carol@example.com"]})
        admin("projects.accounts.batchGet")
        admin("projects.accounts.query", {"returnUserInfo": True})
        admin("projects.queryAccounts", {"returnUserInfo": True})
        admin("projects.accounts.update", {"localId": made["localId"], "customAttributes": "{\"a\":1}"})
        admin("projects.accounts.batchCreate", {"users": [{"localId": "f", "email": "carol@example.com"}, {"localId": "g"}]})
        admin("projects.accounts.batchDelete", {"localIds": ["f", "g"]})
        fresh = client("accounts.signUp", email="x@example.com", password="secret-1")
        admin("projects.createSessionCookie", {"idToken": fresh["idToken"], "validDuration": "300"})
        for name in ("getProjects", "getRecaptchaParams", "getPublicKeys", "getSessionCookiePublicKeys"):
            self.check(one, "identitytoolkit." + name, self.request(one.prefix + one.methods["identitytoolkit." + name]["path"] + "?key=k")[1])
        for name in ("getPasswordPolicy", "getRecaptchaConfig"):
            self.check(two, "identitytoolkit." + name, self.request(two.prefix + two.methods["identitytoolkit." + name]["path"] + "?key=k")[1])
        parent = f"projects/{PROJECT}"
        tenant = admin("projects.tenants.create", {"displayName": "Work"}, two, parent=parent)["name"]
        admin("projects.tenants.patch", {"allowPasswordSignup": True}, two, name=tenant, updateMask="allowPasswordSignup")
        admin("projects.tenants.list", None, two, parent=parent)
        admin("projects.oauthIdpConfigs.create", {"clientId": "c", "issuer": "https://x.example"}, two, parent=parent, oauthIdpConfigId="oidc.x")
        admin("projects.oauthIdpConfigs.list", None, two, parent=parent)
        admin("projects.inboundSamlConfigs.create", {
            "idpConfig": {"idpEntityId": "i", "ssoUrl": "https://x.example", "idpCertificates": [{"x509Certificate": "c"}]},
            "spConfig": {"spEntityId": "s", "callbackUri": "https://y.example"}}, two, parent=parent, inboundSamlConfigId="saml.x")
        admin("projects.inboundSamlConfigs.list", None, two, parent=parent)
        admin("projects.inboundSamlConfigs.patch", {"displayName": "X"}, two, name=parent + "/inboundSamlConfigs/saml.x", updateMask="displayName")
        admin("projects.defaultSupportedIdpConfigs.create", {"clientId": "c", "clientSecret": "s"}, two, parent=parent, idpId="google.com")
        admin("projects.defaultSupportedIdpConfigs.list", None, two, parent=parent)
        admin("projects.defaultSupportedIdpConfigs.patch", {"enabled": True}, two, name=parent + "/defaultSupportedIdpConfigs/google.com", updateMask="enabled")
        admin("projects.defaultSupportedIdpConfigs.get", None, two, name=parent + "/defaultSupportedIdpConfigs/google.com")
        admin("projects.defaultSupportedIdpConfigs.delete", None, two, name=parent + "/defaultSupportedIdpConfigs/google.com")
        admin("defaultSupportedIdps.list", None, two)
        admin("projects.getConfig", None, two, name=parent + "/config")
        admin("projects.accounts.delete", {"localId": made["localId"]})


if __name__ == "__main__":
    unittest.main()
