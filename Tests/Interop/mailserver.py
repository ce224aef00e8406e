"""Mail servers on loopback for the tests of Network: aiosmtpd, and servers that misbehave on purpose.

Prints one line of JSON with the ports and the certificate authority's file. Then reads requests as lines of JSON from standard input and
writes one line for each, until the input ends:

- {"take": ADDRESS} returns and removes the messages for an address, parsed by Python's `email` with its strict policy, and their sessions.
- {"parse": BASE64} parses a message that was not sent.
- {"underway": ADDRESS, "known": COUNT} waits until more than COUNT deliveries to a slow or held address have begun, and returns their
  number.
- {"release": ADDRESS} completes the deliveries to a held address that have begun, and returns their number.

Servers with authentication accept the user "sender" with the password "p\u00e4ss word". The recipient `nobody` is rejected permanently,
`later` temporarily, and `stranger` is rejected as a sender. A message with the text "SPAM" is rejected. A message to a local part that
begins with "slow" takes 0.8 s, and "slow-once" then rejects the first message temporarily. A message to a local part that begins with
"held" takes until it is released.
"""

import asyncio
import base64
import collections
import email
import email.policy
import email.utils
import json
import os
import socket
import ssl
import sys
import tempfile
import threading
import time
from email.header import decode_header, make_header

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

from webserver import make_authority, make_certificate

received = {}
refused = set()
lock = threading.Lock()
begun, released = collections.Counter(), collections.Counter()
has_begun = threading.Condition(lock)


def read(content):
    """Parses a message strictly and returns its parts. Raises if the message has any defect."""
    message = email.message_from_bytes(content, policy=email.policy.strict)
    part = {kind: message.get_body((kind,)) for kind in ("plain", "html")}
    texts = {kind: None if found is None else found.get_content().replace("\r\n", "\n") for kind, found in part.items()}
    # The strict policy inserts a space between adjacent encoded words of a name. The older parser follows RFC 2047.
    old = email.message_from_bytes(content)
    boxes = {name: email.utils.parseaddr(old[name]) for name in ("From", "To", "Reply-To") if name in message}
    assert all(message[name].addresses[0].addr_spec == box[1] for name, box in boxes.items())
    lines = content.split(b"\r\n")
    return {
        "headers": list(message.keys()), "subject": message["Subject"], "text": texts["plain"], "html": texts["html"],
        "boxes": {name: {"name": str(make_header(decode_header(box[0]))), "address": box[1]} for name, box in boxes.items()},
        "date": int(email.utils.parsedate_to_datetime(message["Date"]).timestamp()), "messageId": message["Message-ID"],
        "autoSubmitted": message["Auto-Submitted"], "language": message["Content-Language"], "type": message.get_content_type(),
        "longestLine": max(map(len, lines)), "isASCII": content.isascii(), "hasLoneLineEnds": any(b"\r" in l or b"\n" in l for l in lines),
    }


class Handler:
    async def handle_MAIL(self, server, session, envelope, address, options):
        if address.startswith("stranger@"):
            return "553 5.7.1 <" + address + "> is not yours"
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("nobody@"):
            return "550-5.1.1 <" + address + ">\r\n550 5.1.1 no such mailbox"
        if address.startswith("later@"):
            return "451 4.7.1 Greylisted, come back in 5 minutes"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        if b"SPAM" in envelope.content:
            return "554 5.7.1 Looks like spam"
        for recipient in envelope.rcpt_tos:
            if recipient.startswith(("slow", "held")):
                with has_begun:
                    begun[recipient] += 1
                    number = begun[recipient]
                    has_begun.notify_all()
                if recipient.startswith("slow"):
                    await asyncio.sleep(0.8)
                while recipient.startswith("held") and released[recipient] < number:
                    await asyncio.sleep(0.01)
            if recipient.startswith("slow-once") and recipient not in refused:
                refused.add(recipient)
                return "451 4.3.0 Not now"
        known = {"from": envelope.mail_from, "ehlo": session.host_name, "user": (session.auth_data or b"").decode(),
                 "isEncrypted": session.ssl is not None or server.transport.get_extra_info("sslcontext") is not None, "client": session.peer[1]}
        with lock:
            for recipient in envelope.rcpt_tos:
                received.setdefault(recipient, []).append(read(envelope.content) | {"session": known})
        return "250 2.0.0 Taken"


def authenticate(server, session, envelope, mechanism, data):
    good = data.login == b"sender" and data.password == "p\u00e4ss word".encode()
    return AuthResult(success=good, handled=False, auth_data=data.login)


class MailServer(Controller):
    def __init__(self, certificate=None, implicit=False, **options):
        context = None
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate + ".pem", certificate + ".key")
            options |= {"authenticator": authenticate, "auth_require_tls": not implicit}
            if not implicit:
                options |= {"require_starttls": True, "tls_context": context}
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        super().__init__(Handler(), hostname="127.0.0.1", port=port, server_kwargs=options, ssl_context=context if implicit else None)
        self.start()


class Script:
    """A server that runs a script for each connection."""

    def __init__(self, play):
        self.play = play
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            connection, _ = self.socket.accept()
            threading.Thread(target=self.talk, args=(connection,), daemon=True).start()

    def talk(self, connection):
        with connection, connection.makefile("rb") as lines:
            try:
                self.play(lambda text: connection.sendall(text.encode() + b"\r\n"), lines)
            except OSError:
                pass


def until_data(say, lines):
    """Accepts all commands up to `DATA`."""
    say("220 here")
    for line in lines:
        if line.startswith(b"DATA"):
            return say("354 go ahead")
        say("250 fine")


def silent(say, lines):
    time.sleep(60)


def busy(say, lines):
    say("421 4.3.2 too many connections")


def noise(say, lines):
    say("HTTP/1.1 400 Bad Request")
    time.sleep(60)


def cut(say, lines):
    until_data(say, lines)
    lines.read(100)


def cut_after(say, lines):
    until_data(say, lines)
    for line in lines:
        if line == b".\r\n":
            return


def mute_after(say, lines):
    cut_after(say, lines)
    time.sleep(60)


def one_message(say, lines, name):
    """Accepts one message and reads the first command of the next."""
    until_data(say, lines)
    for line in lines:
        if line == b".\r\n":
            break
    with lock:
        received.setdefault(name, []).append({})
    say("250 taken")
    lines.readline()


def forgetful(say, lines):
    one_message(say, lines, "forgetful")


def tired(say, lines):
    one_message(say, lines, "tired")
    say("421 4.4.2 idle for too long")


def main():
    with tempfile.TemporaryDirectory(prefix="mailserver-") as folder:
        def inside(name):
            return os.path.join(folder, name)

        here = "DNS:localhost,IP:127.0.0.1"
        make_authority(inside("authority"), "Test authority")
        make_authority(inside("stranger"), "Another authority")
        make_certificate(inside("good"), inside("authority"), here)
        make_certificate(inside("otherName"), inside("authority"), "DNS:elsewhere.invalid")
        make_certificate(inside("unknown"), inside("stranger"), here)
        ports = {
            "startTLS": MailServer(inside("good")).port, "login": MailServer(inside("good"), auth_required=True).port,
            "onlyLOGIN": MailServer(inside("good"), auth_required=True, auth_exclude_mechanism=["PLAIN"]).port,
            "implicit": MailServer(inside("good"), implicit=True).port, "otherName": MailServer(inside("otherName")).port,
            "unknown": MailServer(inside("unknown")).port, "plain": MailServer().port,
        }
        for play in (silent, busy, noise, cut, cut_after, mute_after, forgetful, tired):
            ports[play.__name__] = Script(play).port
        print(json.dumps({"ports": ports, "caFile": inside("authority.pem")}), flush=True)
        for line in sys.stdin:
            asked = json.loads(line)
            if "parse" in asked:
                answer = read(base64.b64decode(asked["parse"]))
            elif "underway" in asked:
                address, known = asked["underway"], asked["known"]
                with has_begun:
                    has_begun.wait_for(lambda: begun[address] > known, 20)
                    answer = begun[address]
            elif "release" in asked:
                with lock:
                    answer = released[asked["release"]] = begun[asked["release"]]
            else:
                with lock:
                    answer = received.pop(asked["take"], [])
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
