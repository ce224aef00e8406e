"""Streams of Security Event Tokens: acknowledgement (RFC 8936), claims (RFC 8417, RFC 9493, CAEP) and signature."""

import json

import jwt
from endtoend import EndToEnd, decode, make_pool
from hooks import PASSWORD
from sidecar import request_line

RECEIVER = "https://crm.example.com"
CAEP = "https://schemas.openid.net/secevent/caep/event-type/"
RISC = "https://schemas.openid.net/secevent/risc/event-type/"


class EventStreams(EndToEnd):
    def setUp(self):
        super().setUp()
        self.store = self.path("streams.db")
        self.sidecar = self.spawn("--testing", store=self.store)

    def stream(self, name="crm", **more):
        if "poolId" not in more:
            more["tenantId"] = "default"
        return self.sidecar.call("events.putStream", {"streamId": name, "audience": RECEIVER, **more})

    def poll(self, name="crm", sidecar=None, **more):
        return (sidecar or self.sidecar).call("events.poll", {"streamId": name, **more})

    def rotate(self):
        return self.sidecar.call("key.rotate", {"tenantId": "default"})["kid"]

    def read(self, token, stream):
        """Returns the claims of a token after the checks of a receiver that only has the public keys."""
        header = jwt.get_unverified_header(token)
        self.assertEqual(header["typ"], "secevent+jwt")
        published = self.sidecar.call("token.jwks", {"issuer": stream["issuer"]})["keys"]
        keys = {key.key_id: key for key in jwt.PyJWKSet(published).keys}
        return jwt.decode(
            token, keys[header["kid"]], algorithms=[header["alg"]], audience=RECEIVER, issuer=stream["issuer"], options={"verify_iat": False})

    def read_all(self, name, stream):
        sets = self.poll(name)["sets"]
        claims = [self.read(token, stream) for token in sets.values()]
        self.assertEqual([each["jti"] for each in claims], list(sets))
        for each in claims:
            self.assertEqual((each["iat"], len(each["events"])), (each["toe"], 1))
            self.assertNotIn("exp", each)
            self.assertNotIn("sub", each)
        return claims

    def test_tokens_of_a_tenant_have_the_types_and_subjects_of_caep_and_risc(self):
        stream = self.stream()
        account = self.sidecar.call("account.create", {"username": "a@example.com", "password": PASSWORD, "emailVerified": True})["accountId"]
        signed_in = self.sidecar.call("signIn.withPassword", {"username": "a@example.com", "password": PASSWORD})
        self.sidecar.call("account.changePassword", {
            "idToken": signed_in["idToken"], "currentPassword": PASSWORD, "newPassword": "another horse 9 Battery"})
        signed_in = self.sidecar.call("signIn.withPassword", {"username": "a@example.com", "password": "another horse 9 Battery"})
        self.sidecar.call("session.signOut", {"idToken": signed_in["idToken"]})
        kid = self.rotate()
        self.sidecar.call("account.delete", {"accountId": account})
        user = {"format": "iss_sub", "iss": stream["issuer"], "sub": account}
        found = [(next(iter(each["events"].items())), each["sub_id"]) for each in self.read_all("crm", stream)]
        types = [uri for (uri, _), _ in found]
        base = stream["issuer"].removesuffix("/tenants/default") + "/event-type/"
        self.assertEqual(sorted(types[:2]), sorted([CAEP + "credential-change", CAEP + "session-revoked"]))
        self.assertEqual(types[2:4], [CAEP + "session-revoked", base + "keysRotated"])
        self.assertIn(RISC + "account-purged", types[4:])
        password = next(each for (uri, each), _ in found if uri.endswith("credential-change"))
        self.assertEqual((password["credential_type"], password["change_type"]), ("password", "update"))
        self.assertEqual(found[0][1], user)
        self.assertEqual((found[2][1]["format"], found[2][1]["user"]), ("complex", user))
        self.assertTrue(found[2][1]["session"]["id"])
        self.assertEqual(found[3][1], {"format": "opaque", "id": kid})

    def test_stream_of_a_pool_has_no_events_of_others(self):
        pool, other = (make_pool(self.sidecar, name=name)["poolId"] for name in ("one", "two"))
        stream = self.stream(poolId=pool)
        for each in (other, pool):
            self.sidecar.call("credentials.revoke", {"poolId": each, "issuedBefore": 5})
        self.rotate()
        (claims,) = self.read_all("crm", stream)
        self.assertEqual(claims["sub_id"], {"format": "opaque", "id": pool})

    def test_token_is_returned_until_it_is_acknowledged_in_any_order(self):
        stream = self.stream()
        kids = [self.rotate() for _ in range(3)]
        first = self.poll(maxEvents=2)
        self.assertEqual((len(first["sets"]), first["moreAvailable"]), (2, True))
        again = self.poll()
        ids = list(again["sets"])
        self.assertEqual((ids[:2], again["moreAvailable"]), (list(first["sets"]), False))
        self.assertEqual([self.read(again["sets"][id], stream)["sub_id"]["id"] for id in ids], kids)
        self.assertEqual(self.read(first["sets"][ids[0]], stream), self.read(again["sets"][ids[0]], stream))
        self.assertEqual(list(self.poll(ack=[ids[1], "unknown"])["sets"]), [ids[0], ids[2]])
        self.assertEqual(self.poll(maxEvents=0, ack=[ids[0]]), {"sets": {}, "moreAvailable": True})
        self.sidecar.close()
        self.sidecar = self.spawn("--testing", store=self.store)
        self.assertEqual(list(self.poll()["sets"]), [ids[2]])
        self.assertEqual(self.poll(setErrs={ids[2]: {"err": "invalid_key", "description": "no such key"}}), {"sets": {}, "moreAvailable": False})
        details = self.sidecar.call("audit.list", {"method": "events.poll"})["records"][0]["details"]
        self.assertEqual((details["err"], details["eventId"]), ("invalid_key", ids[2]))
        self.assertEqual(self.rows("SELECT count(*) FROM event_stream_ack"), [(0,)])

    def test_stream_begins_with_its_creation_and_a_change_keeps_its_position(self):
        self.rotate()
        self.stream()
        self.assertEqual(self.poll()["sets"], {})
        self.rotate()
        (id,) = self.poll()["sets"]
        self.poll(ack=[id])
        self.rotate()
        self.stream(types=["sessionEnded"])
        self.assertEqual(self.poll()["sets"], {})
        self.refused("eventStreamConflict", self.sidecar, "events.putStream", {
            "streamId": "crm", "audience": RECEIVER, "poolId": make_pool(self.sidecar)["poolId"]})
        self.assertEqual([each["streamId"] for each in self.sidecar.call("events.listStreams")["streams"]], ["crm"])
        self.sidecar.call("events.deleteStream", {"streamId": "crm"})
        self.refused("eventStreamNotFound", self.sidecar, "events.deleteStream", {"streamId": "crm"})
        self.refused("eventStreamNotFound", self.sidecar, "events.poll", {"streamId": "crm"})
        self.refused("tenantNotFound", self.sidecar, "events.putStream", {"streamId": "x", "audience": "y", "tenantId": "nobody"})

    def test_number_of_streams_is_limited(self):
        requests = [
            request_line("events.putStream", {"streamId": f"s{number}", "audience": "a", "tenantId": "default"}, id=f"n{number}") for number in range(101)]
        self.sidecar.write(b"".join(requests))
        refused = [json.loads(line)["error"]["data"]["type"] for line in self.sidecar.lines(101) if b'"error"' in line]
        self.assertEqual(refused, ["tooManyEventStreams"])

    def test_token_of_a_stream_is_not_an_id_token(self):
        self.stream()
        self.rotate()
        (token,) = self.poll()["sets"].values()
        self.assertEqual(json.loads(decode(token.split(".")[0]))["typ"], "secevent+jwt")
        self.assertIn("token", self.sidecar.refusal("token.verify", {"token": token, "tenantId": "default"}).type)
        self.sidecar.refusal("session.signOut", {"idToken": token})

    def test_two_receivers_of_one_stream_and_processes_get_the_same_tokens(self):
        self.stream()
        self.rotate()
        other = self.spawn("--testing", store=self.store)
        self.assertEqual(list(self.poll()["sets"]), list(self.poll(sidecar=other)["sets"]))
        self.poll(sidecar=other, ack=list(self.poll()["sets"]))
        self.assertEqual(self.poll()["sets"], {})
