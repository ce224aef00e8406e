"""Benchmarks of one call at a time: credentials for an identity, and the memory that a new user takes."""

import os
import struct

from host import POOL, Sidecar, fill, median, mints, one_at_a_time, pump, request_line

ROLE = "arn:aws:iam::000000000000:role/shop-user"


def prepare(store):
    """Creates a pool with a role, and returns a request for the credentials of a user."""
    policy = {"Version": "2012-10-17", "Statement": [{
        "Effect": "Allow", "Principal": {"Federated": "cognito-identity.amazonaws.com"}, "Action": "sts:AssumeRoleWithWebIdentity",
        "Condition": {"StringEquals": {"cognito-identity.amazonaws.com:aud": POOL}}}]}
    with Sidecar(store=store, checked=False) as sidecar:
        sidecar.call("pool.create", {"name": "shop", "poolId": POOL, "developerProvider": "login.shop"})
        sidecar.call("role.put", {"name": "shop-user", "trustPolicy": policy})
        sidecar.call("pool.setRoles", {"poolId": POOL, "roles": {"authenticated": ROLE}})
        token = sidecar.call("token.mintForDeveloper", {"poolId": POOL, "logins": {"login.shop": "alice"}, "durationSeconds": 86400})["token"]
    return request_line("credentials.get", {"token": token}, id=1)


def one_call(store, request, home, turns, cpu):
    """The median times of a request and of `system.ping`, each alone, by a process on the processor `cpu`, in microseconds."""
    ping = request_line("system.ping", id=1)
    times = [(one_at_a_time(store, request, home, 2000, cpu), one_at_a_time(store, ping, home, 2000, cpu)) for _ in range(turns)]
    return tuple(median(each) * 1e3 for each in zip(*times))


def new_user(store, library, work, home, count=10_000):
    """The (bytes, blocks) that OpenSSL, SQLite and the program itself request for a new user: those of `2 * count` users without those of `count`."""
    counters, found = os.path.join(work, "allocations"), []
    environment = {"LD_PRELOAD": library, "MINTMARK_ALLOCATIONS": counters}
    fill(store, 0, work, home)
    begin = 0
    for users in (count, 2 * count):
        pump(store, mints(range(begin, begin + users)), users, work, home, environment)
        with open(counters, "rb") as file:
            found.append(struct.unpack("6Q", file.read(48)))
        os.remove(counters)
        begin += users
    each = [(more - less) / count for less, more in zip(*found)]
    return list(zip(each[::2], each[1::2]))
