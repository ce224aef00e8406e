#!/usr/bin/env python3
"""Writes signature-vectors.json to this directory: requests signed by botocore with fixed keys and times.

Requires botocore. The output is the same on every run. Run the script again only to add requests.
"""
import datetime
import hashlib
import itertools
import json
import os

import botocore.auth
from botocore.auth import S3SigV4Auth, S3SigV4QueryAuth, SigV4Auth, SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

TIMES = [datetime.datetime(2026, 11, 21, 12, 0, 0), datetime.datetime(2028, 2, 29, 23, 59, 59), datetime.datetime(2000, 1, 1, 0, 0, 0)]
KEYS = [
    ("ASIAEXAMPLE000000001", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", None),
    ("ASIAEXAMPLE000000002", "a secret with spaces and é", "token/with+odd=characters=="),
    ("ASIAEXAMPLE000000003", "s", "IQoJb3JpZ2luX2VjEXAMPLE"),
]
PATHS = [
    "", "/", "/items", "/items/", "//items", "/items//1", "/a/./b", "/a/../b", "/a/b/..", "/a/b/../", "/./", "/../..", "/p%20q/%C3%A9",
    "/%2F", "/a%2Fb", "/a+b", "/a b", "/é", "/日本語/x", "/~user/-_.", "/a;b=c,d", "/a:b@c", "/a!$&'()*", "/%e9", "/%", "/a=b", "/.../..a",
    "/e\u0301/\u0301x",
]
QUERIES = [
    "", "a=1", "b=2&a=1&a=0", "a=&b", "a", "=x", "a&&b", "a=1&", "x=%2F", "x=/", "x=a+b", "x=a%20b", "x=é", "x=%C3%A9", "a=b=c", "a-b=1&a=2&a.b=3",
    "A=1&a=2", "x=~-_.", "x=%ff", "Action=ListUsers&Version=2010-05-08", "a=1&a=1", "q=://x", "x=?", "a%3Db=1",
]
HEADERS = [
    {},
    {"Content-Type": "application/json"},
    {"X-Custom": "  two   spaces  "},
    {"X-Custom": "\ttab\tand  space "},
    {"X-Empty": ""},
    {"X-Unicode": "é\u00a0 日本"},
    {"Host": "api.example.com"},
    {"Host": "API.Example.com:443"},
    {"Date": "replaced by the signer"},
    {"X-Amz-Target": "Service_20260101.Do", "Content-Type": "application/x-amz-json-1.1"},
    {"User-Agent": "never signed", "X-Amzn-Trace-Id": "Root=1"},
    {"Zeta": "1", "alpha": "2", "Mid-dle": "a, b,c"},
]
BODIES = [b"", b'{"a":1}', "é\n".encode(), bytes(range(256)) * 4]
METHODS = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"]


def sign(signer, time, key, service, region, method, url, headers, body, **options):
    botocore.auth.get_current_datetime = lambda *_, **__: time
    request = AWSRequest(method=method, url=url, data=body, headers=headers)
    if options.pop("unsigned_payload", False):
        request.context["payload_signing_enabled"] = False
    signer(Credentials(*key), service, region, **options).add_auth(request)
    presigned = issubclass(signer, SigV4QueryAuth)
    vector = {
        "method": method,
        "url": request.url,
        "headers": [[name, value] for name, value in request.headers.items()],
        "secret": key[1],
        "accessKeyId": key[0],
        "service": service,
        "region": region,
        "signedAt": int(time.replace(tzinfo=datetime.timezone.utc).timestamp()),
        "presigned": presigned,
    }
    if key[2] is not None:
        vector["sessionToken"] = key[2]
    if presigned:
        vector["expiresSeconds"] = options["expires"]
    if body or not presigned:
        vector["bodySha256"] = hashlib.sha256(body).hexdigest()
    return vector


def vectors():
    turn = itertools.count()

    def some(of):
        return of[next(turn) % len(of)]

    base = "https://api.example.com"
    for path in PATHS:
        yield sign(SigV4Auth, some(TIMES), some(KEYS), "execute-api", "us-east-1", "GET", base + path, {}, b"")
        if path:
            yield sign(S3SigV4Auth, some(TIMES), some(KEYS), "s3", "eu-west-1", some(METHODS), base + path, {}, some(BODIES))
            yield sign(S3SigV4QueryAuth, some(TIMES), some(KEYS), "s3", "eu-west-1", "GET", base + path, {}, b"", expires=300)
    for query in QUERIES:
        url = f"{base}/items?{query}"
        yield sign(SigV4Auth, some(TIMES), some(KEYS), "execute-api", "us-east-1", some(METHODS), url, {}, some(BODIES))
        yield sign(S3SigV4Auth, some(TIMES), some(KEYS), "s3", "us-east-1", "GET", url, {}, b"")
        yield sign(SigV4QueryAuth, some(TIMES), some(KEYS), "execute-api", "local-1", "GET", url, {}, b"", expires=1)
        yield sign(S3SigV4QueryAuth, some(TIMES), some(KEYS), "s3", "local-1", "PUT", url, {}, b"", expires=604800)
    for headers in HEADERS:
        for body in BODIES:
            yield sign(SigV4Auth, some(TIMES), some(KEYS), "sts", "us-east-1", some(METHODS), base + "/x?y=z", dict(headers), body)
        if "Date" not in headers:
            yield sign(SigV4QueryAuth, some(TIMES), some(KEYS), "sts", "us-east-1", "GET", base + "/x?y=z", dict(headers), b"", expires=900)
    for host in ["https://API.Example.COM", "https://api.example.com:443", "http://api.example.com:80", "http://api.example.com:8080",
                 "https://u:p@api.example.com", "https://[2001:db8::1]:8443", "https://127.0.0.1:1", "HTTPS://a.b"]:
        yield sign(SigV4Auth, some(TIMES), some(KEYS), "lambda", "us-east-1", "POST", host + "/f#part", {}, b"x")
        yield sign(SigV4QueryAuth, some(TIMES), some(KEYS), "lambda", "us-east-1", "GET", host + "/f", {}, b"", expires=60)
    for service in ["s3-outposts", "s3-object-lambda", "s3express"]:
        yield sign(S3SigV4Auth, some(TIMES), some(KEYS), service, "us-east-1", "PUT", base + "//k/../l", {}, b"x")
        yield sign(S3SigV4QueryAuth, some(TIMES), some(KEYS), service, "us-east-1", "GET", base + "/k%2Fl", {}, b"", expires=60)
    for key in KEYS:
        yield sign(S3SigV4Auth, TIMES[0], key, "s3", "us-east-1", "PUT", base + "/k", {"Content-MD5": "x"}, b"y", unsigned_payload=True)
        yield sign(SigV4Auth, TIMES[0], key, "execute-api", "us-east-1", "PUT", base + "/k", {}, b"y", unsigned_payload=True)
        yield sign(SigV4Auth, TIMES[0], key, "execute-api", "us-east-1", "get", base + "/lower-case-method", {}, b"")


def main():
    written = list(vectors())
    target = os.path.join(os.path.dirname(os.path.realpath(__file__)), "signature-vectors.json")
    with open(target, "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(json.dumps(v, ensure_ascii=True, sort_keys=True) for v in written) + "\n]\n")
    print(f"{len(written)} signed requests")


if __name__ == "__main__":
    main()
