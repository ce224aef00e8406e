"""The doors of the service and the guards on them: how each door is reached, and how each guard is brought about."""

import itertools
import os
import time

import pyotp

from authenticators import b64
from federation import PASSWORD
from sidecar import RpcError
from test_logins import Provider
from test_passkeys import SETTINGS, Authenticator

NEW_PASSWORD = "another Horse 10 Battery"
GUARDS = ("locked", "disabled", "deleted", "tenantDisabled", "secondFactor", "recentSignIn", "sessionEnded", "addressUnverified", "merged")


class Scene:
    """A tenant with one account, the ways to sign in to it, and one session."""

    numbers = itertools.count(1)

    def __init__(self, sidecar, guard, **tenant):
        self.sidecar, self.call = sidecar, sidecar.call
        self.number = next(self.numbers)
        self.tenant, self.address = f"shop-{self.number}", f"carol{self.number}@example.com"
        self.provider = Provider(f"https://oidc{self.number}.example.com")
        self.backend = Provider(f"backend{self.number}@shop.example")
        self.guard, self.factor, self.secret, self.authenticator, self.shown = guard, None, None, None, None
        self.call("tenant.create", {
            "tenantId": self.tenant, "mfa": "optional", "anonymousAllowed": True, "lockout": {"threshold": 1, "durationSeconds": 3600},
            "passkeys": SETTINGS, "customTokenSigners": [{"issuer": self.backend.issuer, "keys": [self.backend.jwk]}], **tenant})
        self.audience = self.call("tenant.get", {"tenantId": self.tenant})["issuer"]
        self.call("idp.create", {"tenantId": self.tenant, "providerId": "oidc.work", "clientId": "shop", "issuer": self.provider.issuer,
                                 "keys": [self.provider.jwk]})

    # The account

    @property
    def now(self):
        return self.call("system.ping")["now"]

    def make_account(self, password=True, verified=True, linked=False):
        self.password = PASSWORD if password else None
        self.account = self.call("account.create", {
            "tenantId": self.tenant, "username": self.address, "emailVerified": verified, **({"password": PASSWORD} if password else {})})["accountId"]
        if linked:
            self.call("account.update", {"accountId": self.account, "link": [{"providerId": "oidc.work", "subject": "carol"}]})
        return self

    def sign_in(self):
        """Signs in with the account's own method, and returns the tokens."""
        if self.password:
            tokens = self.call("signIn.withPassword", {"tenantId": self.tenant, "username": self.address, "password": self.password})
        else:
            step = self.call("signIn.start", {"tenantId": self.tenant, "username": self.address, "language": "de"})
            tokens = self.call("signIn.submitCode", {"continuationToken": step["continuationToken"], "code": self.code()})
        assert tokens["state"] == "completed", tokens
        return tokens

    def own_session(self, passkey=False, lacks_factor=True):
        """Signs in, and keeps the tokens. For the guard `secondFactor`, the account then gets a factor, and the session that is kept has not
        shown it; enrolling ends the sessions before it, so it is one by custom token."""
        self.tokens = self.sign_in()
        if passkey:
            self.register_passkey()
        if self.guard == "secondFactor" and lacks_factor:
            self.enroll()
            self.tokens = self.call("signIn.withCustomToken", {"tenantId": self.tenant, "token": self.custom_token()})
        return self

    @property
    def token(self):
        return self.tokens["idToken"]

    def credential(self, subject="carol", **claims):
        return {"providerId": "oidc.work", "idToken": self.provider.token(subject, iat=self.now, exp=self.now + 600, **claims)}

    def custom_token(self):
        return self.backend.token(subject=self.backend.issuer, aud=self.audience, uid=self.account, iat=self.now, exp=self.now + 3600)

    def code(self):
        return self.call("test.outbox", {"to": self.address})["messages"][-1]["code"]

    def enroll(self, token=None):
        """Enrolls an authenticator app, which keeps the sessions. Returns the tokens of the session that was authenticated with it."""
        step = self.call("mfa.enroll", {"idToken": token or self.token, "kind": "totp"})
        done = self.call("mfa.confirm", {"continuationToken": step["continuationToken"], "code": pyotp.TOTP(step["secret"]).at(self.now)})
        self.secret, self.factor = step["secret"], done["account"]["factors"][0]["factorId"]
        self.call("test.clock", {"advanceSeconds": 30})
        self.shown = done
        return done

    def register_passkey(self):
        self.authenticator = Authenticator()
        start = self.call("passkey.startRegistration", {"idToken": self.token})
        self.call("passkey.finishRegistration", {
            "continuationToken": start["continuationToken"], "response": self.authenticator.create(start["options"])})

    # The guards

    def apply(self):
        """Puts the account into the state of the guard. The method was prepared before."""
        getattr(self, f"_{self.guard}")()

    def _locked(self):
        try:
            self.call("signIn.withPassword", {"tenantId": self.tenant, "username": self.address, "password": "Wrong 1 wrong"})
        except RpcError as error:
            if error.type == "passwordNotSet":  # Wrong codes lock as well.
                step = self.call("signIn.start", {"tenantId": self.tenant, "username": self.address})
                try:
                    self.call("signIn.submitCode", {"continuationToken": step["continuationToken"], "code": "00000000"})
                except RpcError:
                    pass

    def _disabled(self):
        self.call("account.update", {"accountId": self.account, "disabled": True})

    def _deleted(self):
        self.call("account.delete", {"accountId": self.account})

    def _tenantDisabled(self):
        self.call("tenant.update", {"tenantId": self.tenant, "disabled": True})

    def _secondFactor(self):
        """The account gets a factor in another session, unless the door's session already lacks one."""
        if not self.factor:
            self.enroll(self.sign_in()["idToken"])

    def _recentSignIn(self):
        self.call("test.clock", {"advanceSeconds": 301})

    def _sessionEnded(self):
        self.call("session.signOut", {"idToken": self.token})

    def _addressUnverified(self):
        self.call("account.update", {"accountId": self.account, "emailVerified": False})

    def _merged(self):
        target = self.call("signIn.anonymously", {"tenantId": self.tenant})
        source = self.shown or self.call("signIn.withCustomToken", {"tenantId": self.tenant, "token": self.custom_token()})
        self.call("account.merge", {"idToken": target["idToken"], "sourceIdToken": source["idToken"]})


# The doors. Each function prepares a scene and returns the call that goes through the door. `door` registers it under a method and a variant.

DOORS = {}


def door(method, variant="", **options):
    def register(prepare):
        DOORS[f"{method}{' ' if variant else ''}{variant}"] = (method, prepare, options)
        return prepare
    return register


def sent(scene, method, **params):
    """Returns a call whose parameters are known before the guard."""
    return lambda: scene.call(method, params)


@door("signIn.withPassword")
def _(scene):
    scene.make_account()
    return sent(scene, "signIn.withPassword", tenantId=scene.tenant, username=scene.address, password=PASSWORD)


@door("signIn.start")
def _(scene):
    scene.make_account(password=False)
    return sent(scene, "signIn.start", tenantId=scene.tenant, username=scene.address)


@door("signIn.start", "password")
def _(scene):
    scene.make_account()
    return sent(scene, "signIn.start", tenantId=scene.tenant, username=scene.address)


@door("signIn.startWithPhoneNumber", tenant={"phoneSignIn": "accounts"})
def _(scene):
    scene.make_account(password=False)
    scene.call("account.update", {"accountId": scene.account, "phoneNumber": f"+1555555{scene.number:04}"})
    return sent(scene, "signIn.startWithPhoneNumber", tenantId=scene.tenant, phoneNumber=f"+1555555{scene.number:04}")


@door("signIn.submitCode", "by SMS", tenant={"phoneSignIn": "accounts"})
def _(scene):
    scene.make_account(password=False)
    number = f"+1555555{scene.number:04}"
    scene.call("account.update", {"accountId": scene.account, "phoneNumber": number})
    step = scene.call("signIn.startWithPhoneNumber", {"tenantId": scene.tenant, "phoneNumber": number})
    code = scene.call("test.outbox", {"to": number})["messages"][-1]["code"]
    return sent(scene, "signIn.submitCode", continuationToken=step["continuationToken"], code=code)


@door("signIn.submitPassword")
def _(scene):
    scene.make_account()
    step = scene.call("signIn.start", {"tenantId": scene.tenant, "username": scene.address})
    return sent(scene, "signIn.submitPassword", continuationToken=step["continuationToken"], password=PASSWORD)


@door("signIn.submitCode")
def _(scene):
    scene.make_account(password=False)
    step = scene.call("signIn.start", {"tenantId": scene.tenant, "username": scene.address})
    return sent(scene, "signIn.submitCode", continuationToken=step["continuationToken"], code=scene.code())


@door("signIn.resendCode")
def _(scene):
    scene.make_account(password=False)
    step = scene.call("signIn.start", {"tenantId": scene.tenant, "username": scene.address})
    return sent(scene, "signIn.resendCode", continuationToken=step["continuationToken"])


@door("signIn.withContinuation")
def _(scene):
    scene.make_account()
    step = scene.call("passwordReset.start", {"tenantId": scene.tenant, "username": scene.address})
    step = scene.call("passwordReset.submitCode", {"continuationToken": step["continuationToken"], "code": scene.code()})
    done = scene.call("passwordReset.submitPassword", {"continuationToken": step["continuationToken"], "password": NEW_PASSWORD})
    scene.password = NEW_PASSWORD
    return sent(scene, "signIn.withContinuation", continuationToken=done["continuationToken"])


@door("signIn.withCredential", "provider")
def _(scene):
    scene.make_account(linked=True)
    return lambda: scene.call("signIn.withCredential", {"tenantId": scene.tenant, "credential": scene.credential()})


@door("signIn.withCredential", "password")
def _(scene):
    scene.make_account()
    return lambda: scene.call("signIn.withCredential", {"tenantId": scene.tenant, "credential": {"email": scene.address, "password": PASSWORD}})


@door("signIn.withCredential", "passkey")
def _(scene):
    scene.make_account().own_session(passkey=True)
    start = scene.call("passkey.startAuthentication", {"tenantId": scene.tenant})
    return lambda: scene.call("signIn.withCredential", {"tenantId": scene.tenant, "credential": {
        "continuationToken": start["continuationToken"], "response": scene.authenticator.get(start["options"])}})


@door("passkey.verify")
def _(scene):
    scene.make_account().own_session(passkey=True)
    options = {"challenge": b64(os.urandom(32)), "rpId": SETTINGS["relyingPartyId"]}
    return lambda: scene.call("passkey.verify", {
        "tenantId": scene.tenant, "challenge": options["challenge"], "response": scene.authenticator.get(options)})


@door("signIn.withCustomToken")
def _(scene):
    scene.make_account()
    return lambda: scene.call("signIn.withCustomToken", {"tenantId": scene.tenant, "token": scene.custom_token()})


@door("mfa.challenge")
def _(scene):
    scene.make_account().own_session().enroll()
    step = scene.call("signIn.withPassword", {"tenantId": scene.tenant, "username": scene.address, "password": PASSWORD})
    return sent(scene, "mfa.challenge", continuationToken=step["continuationToken"], factorId=scene.factor)


@door("mfa.resolve")
def _(scene):
    scene.make_account().own_session().enroll()
    step = scene.call("signIn.withPassword", {"tenantId": scene.tenant, "username": scene.address, "password": PASSWORD})
    return lambda: scene.call("mfa.resolve", {
        "continuationToken": step["continuationToken"], "factorId": scene.factor, "code": pyotp.TOTP(scene.secret).at(scene.now)})


@door("mfa.enroll")
def _(scene):
    scene.make_account().own_session()
    return sent(scene, "mfa.enroll", idToken=scene.token, kind="totp")


@door("mfa.confirm")
def _(scene):
    scene.make_account().own_session(lacks_factor=False)
    step = scene.call("mfa.enroll", {"idToken": scene.token, "kind": "totp"})
    return lambda: scene.call("mfa.confirm", {"continuationToken": step["continuationToken"], "code": pyotp.TOTP(step["secret"]).at(scene.now)})


def with_factor(scene):
    """Makes an account with a factor. Returns the ID token of a session that was or was not authenticated with it, as the guard requires."""
    scene.make_account().own_session()
    if scene.guard != "secondFactor":
        scene.tokens = scene.enroll()
    return scene.token


@door("mfa.withdraw")
def _(scene):
    return sent(scene, "mfa.withdraw", idToken=with_factor(scene), factorId=scene.factor)


@door("mfa.withdraw", "by the developer")
def _(scene):
    with_factor(scene)
    return sent(scene, "mfa.withdraw", accountId=scene.account, factorId=scene.factor)


@door("mfa.recoveryCodes")
def _(scene):
    return sent(scene, "mfa.recoveryCodes", idToken=with_factor(scene))


@door("session.refresh")
def _(scene):
    scene.make_account().own_session(lacks_factor=False)
    return sent(scene, "session.refresh", refreshToken=scene.tokens["refreshToken"])


@door("passwordReset.start")
def _(scene):
    scene.make_account()
    return sent(scene, "passwordReset.start", tenantId=scene.tenant, username=scene.address)


@door("passwordReset.resendCode")
def _(scene):
    scene.make_account()
    step = scene.call("passwordReset.start", {"tenantId": scene.tenant, "username": scene.address})
    return sent(scene, "passwordReset.resendCode", continuationToken=step["continuationToken"])


@door("passwordReset.submitCode")
def _(scene):
    scene.make_account()
    step = scene.call("passwordReset.start", {"tenantId": scene.tenant, "username": scene.address})
    return sent(scene, "passwordReset.submitCode", continuationToken=step["continuationToken"], code=scene.code())


@door("passwordReset.submitPassword")
def _(scene):
    scene.make_account()
    step = scene.call("passwordReset.start", {"tenantId": scene.tenant, "username": scene.address})
    step = scene.call("passwordReset.submitCode", {"continuationToken": step["continuationToken"], "code": scene.code()})
    return sent(scene, "passwordReset.submitPassword", continuationToken=step["continuationToken"], password=NEW_PASSWORD)


@door("account.changePassword")
def _(scene):
    scene.make_account().own_session()
    return sent(scene, "account.changePassword", idToken=scene.token, currentPassword=PASSWORD, newPassword=NEW_PASSWORD)


@door("account.changeEmail")
def _(scene):
    scene.make_account().own_session()
    return sent(scene, "account.changeEmail", idToken=scene.token, email=f"new{scene.number}@example.com")


@door("account.submitCode")
def _(scene):
    scene.make_account().own_session(lacks_factor=False)
    address = f"new{scene.number}@example.com"
    step = scene.call("account.changeEmail", {"idToken": scene.token, "email": address})
    code = scene.call("test.outbox", {"to": address})["messages"][-1]["code"]
    return sent(scene, "account.submitCode", continuationToken=step["continuationToken"], code=code)


@door("account.link")
def _(scene):
    scene.make_account().own_session()
    return lambda: scene.call("account.link", {"idToken": scene.token, "credential": scene.credential()})


@door("account.unlink")
def _(scene):
    scene.make_account(linked=True).own_session()
    return sent(scene, "account.unlink", idToken=scene.token, providerId="oidc.work")


@door("account.merge", "into this account")
def _(scene):
    scene.make_account().own_session()
    guest = scene.call("signIn.anonymously", {"tenantId": scene.tenant})
    def merge():
        nonlocal guest
        if scene.guard == "recentSignIn":
            guest = scene.call("signIn.anonymously", {"tenantId": scene.tenant})
        return scene.call("account.merge", {"idToken": scene.token, "sourceIdToken": guest["idToken"]})
    return merge


@door("account.merge", "of this account into another")
def _(scene):
    scene.make_account().own_session()
    guest = scene.call("signIn.anonymously", {"tenantId": scene.tenant})
    def merge():
        nonlocal guest
        if scene.guard == "recentSignIn":
            guest = scene.call("signIn.anonymously", {"tenantId": scene.tenant})
        return scene.call("account.merge", {"idToken": guest["idToken"], "sourceIdToken": scene.token})
    return merge


@door("account.reauthenticate")
def _(scene):
    scene.make_account().own_session()
    return sent(scene, "account.reauthenticate", idToken=scene.token, credential={"email": scene.address, "password": PASSWORD})


@door("account.reauthenticate", "passkey")
def _(scene):
    scene.make_account().own_session(passkey=True)
    begin = lambda: scene.call("passkey.startAuthentication", {"idToken": scene.token})
    begun = begin()

    def reauthenticate():
        start = begin() if scene.guard == "recentSignIn" else begun  # The challenge expires together with the sign-in's recency.
        return scene.call("account.reauthenticate", {"idToken": scene.token, "credential": {
            "continuationToken": start["continuationToken"], "response": scene.authenticator.get(start["options"])}})
    return reauthenticate


@door("passkey.startRegistration")
def _(scene):
    scene.make_account().own_session()
    return sent(scene, "passkey.startRegistration", idToken=scene.token)


@door("passkey.finishRegistration")
def _(scene):
    scene.make_account().own_session(lacks_factor=False)
    start = scene.call("passkey.startRegistration", {"idToken": scene.token})
    return sent(scene, "passkey.finishRegistration", continuationToken=start["continuationToken"], response=Authenticator().create(start["options"]))


@door("passkey.startAuthentication")
def _(scene):
    scene.make_account().own_session(passkey=True)
    return sent(scene, "passkey.startAuthentication", idToken=scene.token)


@door("passkey.delete")
def _(scene):
    scene.make_account().own_session(passkey=True)
    passkey = scene.call("account.get", {"accountId": scene.account})["passkeys"][0]["credentialId"]
    return sent(scene, "passkey.delete", idToken=scene.token, credentialId=passkey)


@door("token.verify")
def _(scene):
    scene.make_account().own_session()
    return sent(scene, "token.verify", token=scene.token, tenantId=scene.tenant, use="id", checkRevoked=True)


TOKEN_TYPE = "urn:ietf:params:oauth:token-type:"


@door("token.exchange")
def _(scene):
    scene.make_account().own_session()
    return sent(scene, "token.exchange", subjectToken=scene.token, subjectTokenType=TOKEN_TYPE + "id_token", audience=[scene.tenant])


@door("token.delegate")
def _(scene):
    scene.make_account().own_session()
    agent = scene.call("account.create", {"tenantId": scene.tenant, "username": f"agent{scene.number}@example.com"})["accountId"]
    return sent(scene, "token.delegate", idToken=scene.token, actor={"sub": agent})


@door("token.redeem")
def _(scene):
    scene.make_account()
    scene.call("issuer.put", {"issuer": scene.provider.issuer, "audiences": ["unused"], "keys": [scene.provider.jwk], "uses": ["idJag"]})
    scene.call("tenant.update", {"tenantId": scene.tenant, "subjectIssuers": [{"issuer": scene.provider.issuer, "audiences": [scene.tenant], "scopes": []}]})
    scene.call("account.update", {"accountId": scene.account, "link": [{"providerId": scene.provider.issuer, "subject": "carol"}]})
    scene.call("application.put", {"tenantId": scene.tenant, "clientId": "backend", "type": "confidential"})
    secret = scene.call("application.addSecret", {"tenantId": scene.tenant, "clientId": "backend"})["clientSecret"]
    assertion = scene.provider.token(
        "carol", aud=scene.audience, client_id="backend", jti=f"guard-{scene.number}", iat=scene.now, exp=scene.now + 300,
        headers={"typ": "oauth-id-jag+jwt"})
    return sent(scene, "token.redeem", tenantId=scene.tenant, assertion=assertion, clientId="backend", clientSecret=secret)


def tenant_pool(scene):
    pool = scene.call("pool.create", {"name": "shop", "allowClassicFlow": True, "providers": [{"tenantId": scene.tenant}]})
    return pool["poolId"], scene.audience.removeprefix("https://")


@door("identity.resolve")
def _(scene):
    scene.make_account().own_session()
    pool, name = tenant_pool(scene)
    return sent(scene, "identity.resolve", poolId=pool, logins={name: scene.token})


@door("token.mint")
def _(scene):
    scene.make_account().own_session()
    pool, name = tenant_pool(scene)
    identity = scene.call("identity.resolve", {"poolId": pool, "logins": {name: scene.token}})["identityId"]
    return sent(scene, "token.mint", identityId=identity, logins={name: scene.token})


@door("account.providerToken", passes="providerTokenNotKept")
def _(scene):
    scene.make_account(linked=True).own_session()
    return sent(scene, "account.providerToken", idToken=scene.token, providerId="oidc.work")


@door("idp.authorize", passes="providerUnavailable")
def _(scene):
    scene.make_account().own_session()
    return sent(scene, "idp.authorize", tenantId=scene.tenant, providerId="oidc.work", idToken=scene.token, redirectUri="http://localhost/done")


@door("idp.authorizeDevice", passes="providerUnavailable")
def _(scene):
    scene.make_account().own_session()
    return sent(scene, "idp.authorizeDevice", tenantId=scene.tenant, providerId="oidc.work", idToken=scene.token)


@door("signIn.anonymously")
def _(scene):
    return sent(scene, "signIn.anonymously", tenantId=scene.tenant)


@door("signUp.start")
def _(scene):
    return sent(scene, "signUp.start", tenantId=scene.tenant, username=scene.address, password=PASSWORD)


def signing_up(scene, **more):
    return scene.call("signUp.start", {"tenantId": scene.tenant, "username": scene.address, **more})["continuationToken"]


@door("signUp.resendCode")
def _(scene):
    return sent(scene, "signUp.resendCode", continuationToken=signing_up(scene, password=PASSWORD))


@door("signUp.submitCode")
def _(scene):
    token = signing_up(scene, password=PASSWORD)
    return sent(scene, "signUp.submitCode", continuationToken=token, code=scene.code())


def verified(scene, **more):
    """Returns the token of a sign-up whose address is verified."""
    token = signing_up(scene, **more)
    return scene.call("signUp.submitCode", {"continuationToken": token, "code": scene.code()})["continuationToken"]


@door("signUp.submitPassword", tenant={"localAccountMethod": "emailPassword"})
def _(scene):
    return sent(scene, "signUp.submitPassword", continuationToken=verified(scene), password=PASSWORD)


@door("signUp.submitAttributes", tenant={"attributes": [{"name": "team", "type": "string", "required": True}]})
def _(scene):
    return sent(scene, "signUp.submitAttributes", continuationToken=verified(scene, password=PASSWORD), attributes={"team": "blue"})


@door("signUp.challenge")
def _(scene):
    return sent(scene, "signUp.challenge", continuationToken=signing_up(scene, password=PASSWORD, send=False))


@door("signIn.challenge")
def _(scene):
    scene.make_account(password=False)
    step = scene.call("signIn.start", {"tenantId": scene.tenant, "username": scene.address, "send": False})
    return sent(scene, "signIn.challenge", continuationToken=step["continuationToken"])


@door("passwordReset.challenge")
def _(scene):
    scene.make_account()
    step = scene.call("passwordReset.start", {"tenantId": scene.tenant, "username": scene.address, "send": False})
    return sent(scene, "passwordReset.challenge", continuationToken=step["continuationToken"])


@door("account.setOwnPassword")
def _(scene):
    scene.make_account().own_session()
    return sent(scene, "account.setOwnPassword", idToken=scene.token, newPassword=NEW_PASSWORD)


@door("account.deleteOwn")
def _(scene):
    scene.make_account().own_session()
    return sent(scene, "account.deleteOwn", idToken=scene.token)


@door("session.createCookie")
def _(scene):
    scene.make_account().own_session()
    return sent(scene, "session.createCookie", idToken=scene.token, durationSeconds=600)


@door("signIn.withLink")
def _(scene):
    scene.make_account(password=False)
    code = scene.call("oob.create", {
        "tenantId": scene.tenant, "purpose": "signIn", "email": scene.address, "continueUrl": "https://shop.example.com/", "returnLink": True})["code"]
    return sent(scene, "signIn.withLink", email=scene.address, code=code)


@door("oob.apply")
def _(scene):
    scene.make_account()
    code = scene.call("oob.create", {
        "tenantId": scene.tenant, "purpose": "passwordReset", "email": scene.address, "continueUrl": "https://shop.example.com/", "returnLink": True})
    return sent(scene, "oob.apply", code=code["code"], newPassword=NEW_PASSWORD)
