"""Processes that share a store: concurrent changes, and how fast the changes of one process take effect in the others."""

import concurrent.futures
import itertools
import json
import time

from endtoend import EndToEnd, make_pool, mint, only, pool_with_role
from sidecar import request_line
from test_logins import Provider


class Sharing(EndToEnd):
    def setUp(self):
        super().setUp()
        self.store = self.path("store.db")

    def together(self, count, *options):
        """Starts processes that have opened one store."""
        sidecars = [self.spawn(*options, store=self.store) for _ in range(count)]
        for sidecar in sidecars:
            sidecar.call("pool.list", timeout=60)
        return sidecars

    def at_once(self, sidecars, requests):
        """Sends the requests of every process, a list of (id, method, params), at the same time. Returns the responses of each by ID."""
        with concurrent.futures.ThreadPoolExecutor(len(sidecars)) as threads:
            list(threads.map(lambda each: each[0].write(b"".join(request_line(method, params, id=id) for id, method, params in each[1])), zip(sidecars, requests)))
        return [{message["id"]: message for message in map(json.loads, sidecar.lines(len(mine), timeout=120))} for sidecar, mine in zip(sidecars, requests)]

    def test_ten_processes_mint_for_the_same_new_users_without_errors(self):
        """The users of the processes overlap. Each user has one identity, and one response reports it as new."""
        sidecars = self.together(10)
        pool = make_pool(sidecars[0])["poolId"]
        requests = [[(f"user {number}", "token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": f"user {number}"}})
                     for number in range(place * 10, place * 10 + 60)] for place in range(10)]
        identities, new = {}, {}
        for answers in self.at_once(sidecars, requests):
            for user, message in answers.items():
                self.assertIn("result", message)
                identities.setdefault(user, set()).add(message["result"]["identityId"])
                new[user] = new.get(user, 0) + message["result"]["isNewIdentity"]
        self.assertEqual(len(identities), 150)
        self.assertEqual({len(each) for each in identities.values()}, {1})
        self.assertEqual(set(new.values()), {1})
        self.assertEqual(self.rows("SELECT count(*) FROM identity"), [(150,)])
        self.assertTrue(sidecars[3].call("audit.verify", timeout=60)["intact"])

    def test_concurrent_links_of_one_login_to_two_guests_join_them(self):
        """Two guests are linked to one login at the same time. Both calls succeed and return the same identity."""
        provider = Provider()
        sidecars = self.together(2)
        pool = make_pool(sidecars[0], providers=[provider.settings()], allowUnauthenticated=True)["poolId"]
        for round in range(25):
            guests = [sidecars[0].call("identity.resolve", {"poolId": pool})["identityId"] for _ in range(2)]
            login = {"login.example.com": provider.token(f"carol {round}")}
            answers = self.at_once(sidecars, [
                [(user, "token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": f"{user} {round}", **login}, "identityId": guest})]
                for user, guest in zip("ab", guests)])
            results = [answers[0]["a"], answers[1]["b"]]
            for each in results:
                self.assertIn("result", each)
            # The second call found an identity with the login and joined it.
            self.assertEqual(len({each["result"]["identityId"] for each in results}), 1)
            owner = results[0]["result"]["identityId"]
            self.assertEqual(self.rows("SELECT identity_id FROM login WHERE subject = ?", f"carol {round}"), [(owner,)])
            self.assertEqual(sorted(self.rows("SELECT state FROM identity WHERE id = ? OR id = ?", *guests)), [("authenticated",), ("disabled",)])
        self.assertTrue(sidecars[0].call("audit.verify", timeout=60)["intact"])

    def test_concurrent_links_of_one_login_to_two_identities_succeed_once(self):
        """Both identities already have another login, so that the second call fails with a conflict and changes nothing."""
        first, second = Provider("https://a.example"), Provider("https://b.example")
        sidecars = self.together(2)
        pool, _ = pool_with_role(sidecars[0], providers=[first.settings(), second.settings()])
        for round in range(25):
            requests = []
            for number, sidecar in enumerate(sidecars):
                own = {"a.example": first.token(f"{number} of {round}")}
                identity = sidecar.call("identity.resolve", {"poolId": pool, "logins": own})["identityId"]
                requests.append([(identity, "credentials.get", {"identityId": identity, "logins": {**own, "b.example": second.token(f"wanted {round}")}})])
            answers = self.at_once(sidecars, requests)
            winners = [id for each in answers for id, message in each.items() if "result" in message]
            types = [message["error"]["data"]["type"] for each in answers for message in each.values() if "error" in message]
            self.assertEqual((len(winners), types), (1, ["loginConflict"]))
            winner = winners[0]
            self.assertEqual(self.rows("SELECT identity_id FROM login WHERE subject = ?", f"wanted {round}"), [(winner,)])

    def test_merges_in_a_ring_leave_one_identity(self):
        """Every process merges the same users in another order. One identity remains, and all users resolve to it."""
        sidecars = self.together(4)
        pool = make_pool(sidecars[0])["poolId"]
        users = [f"user {number}" for number in range(8)]
        for user in users:
            mint(sidecars[0], pool, user)
        requests = [[(f"{source}>{destination}", "identity.mergeDevelopers", {
            "poolId": pool, "developerProvider": "login.shop", "sourceUserIdentifier": source, "destinationUserIdentifier": destination})
            for source, destination in zip(users[place:] + users[:place], users[place + 1:] + users[:place + 1])] for place in range(0, 8, 2)]
        for answers in self.at_once(sidecars, requests):
            for id, message in answers.items():
                self.assertIn("result", message, id)
        self.assertEqual(len({mint(sidecar, pool, user)["identityId"] for sidecar, user in zip(itertools.cycle(sidecars), users)}), 1)
        self.assertEqual(sorted(self.rows("SELECT state, count(*) FROM identity GROUP BY state")), [("authenticated", 1), ("disabled", 7)])
        self.assertTrue(sidecars[0].call("audit.verify", timeout=60)["intact"])

    def test_revocation_takes_effect_in_all_processes_within_a_second(self):
        sidecars = self.together(10)
        pool, _ = pool_with_role(sidecars[0])
        for round in range(3):
            minted = mint(sidecars[round], pool, f"user {round}")
            session = {"sessionToken": sidecars[round].call("credentials.get", {"token": minted["token"]})["credentials"]["sessionToken"]}
            for sidecar in sidecars:
                sidecar.call("credentials.verify", session)   # caches that nothing is revoked
            sidecars[9 - round].call("credentials.revoke", {"identityId": minted["identityId"]})
            revoked = time.monotonic()
            for sidecar in sidecars:
                self.soon_refused("credentialsRevoked", sidecar, "credentials.verify", session, since=revoked)

    @only("postgres")
    def test_postgresql_processes_are_notified_and_do_not_poll(self):
        """A notification invalidates the cache immediately, long before it expires. Requests do not query the server for changes."""
        one, other = self.together(2)
        pool, _ = pool_with_role(one)
        for round in range(8):
            minted = mint(one, pool, f"user {round}")
            session = {"sessionToken": one.call("credentials.get", {"token": minted["token"]})["credentials"]["sessionToken"]}
            other.call("credentials.verify", session)   # fills the cache
            one.call("credentials.revoke", {"identityId": minted["identityId"]})
            self.settled(one, other)   # The server has sent the notification.
            self.refused("credentialsRevoked", other, "credentials.verify", session)

        def scans():
            """Returns how often the server has read the tables of the store, and the table with the epoch."""
            return self.rows(
                "SELECT sum(number), sum(number) FILTER (WHERE relname = 'mintmark_meta') FROM (SELECT relname, coalesce(seq_scan, 0) + coalesce(idx_scan, 0) "
                "AS number FROM pg_stat_user_tables WHERE schemaname = current_schema()) AS tables")[0]
        minted = mint(one, pool)
        (reads, before), calls, deadline = scans(), 0, time.monotonic() + 60
        # The server updates its statistics with a delay. Those of a process arrive together.
        while scans()[0] - reads < 1000:
            self.assertLess(time.monotonic(), deadline)
            for _ in range(50):
                other.call("token.verify", {"token": minted["token"], "audience": pool})
            calls += 50
        self.assertLess(scans()[1] - before, calls / 10)
