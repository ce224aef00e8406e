"""Tests of typical boto3 code against a Mintmark process."""

import json
import time

import boto3
import jwt
from botocore import UNSIGNED, xform_name
from botocore.config import Config
from botocore.exceptions import ClientError
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

import mintmark.boto3
from mintmark import MintmarkError
from support import NOWHERE, ClientTest

COGNITO = "cognito-identity.amazonaws.com"
GOOGLE = "accounts.google.com"
APP = "1234.apps.googleusercontent.com"


class Google:
    """Simulates Google as an identity provider, with keys that the pool trusts."""

    def __init__(self):
        self.key = rsa.generate_private_key(65537, 2048)

    def provider(self):
        jwk = {**json.loads(RSAAlgorithm.to_jwk(self.key.public_key())), "kid": "g1", "alg": "RS256", "use": "sig"}
        return {"provider": GOOGLE, "clientIds": [APP], "keys": [jwk]}

    def id_token(self, user, **claims):
        now = int(time.time())
        claims = {"iss": "https://accounts.google.com", "aud": APP, "azp": APP, "sub": user, "iat": now, "exp": now + 3600, **claims}
        return jwt.encode(claims, self.key, "RS256", {"kid": "g1"})


class Boto3Test(ClientTest):
    def setUp(self):
        super().setUp()
        self.m = self.memory()
        self.session = self.connected("AKIAIOSFODNN7EXAMPLE", "secret")
        self.cognito = self.session.client("cognito-identity")
        self.sts = self.session.client("sts")
        self.exceptions = self.cognito.exceptions
        self.google = Google()

    def connected(self, *credentials):
        session = boto3.Session(*credentials, region_name="eu-west-1")
        mintmark.boto3.connect(session, self.m)
        return session

    def session_of(self, credentials):
        """Returns a session that uses temporary credentials."""
        return self.connected(credentials["AccessKeyId"], credentials.get("SecretKey") or credentials["SecretAccessKey"], credentials["SessionToken"])

    def anonymous(self, service="cognito-identity", **config):
        """Returns a client without credentials, as on an end user's device."""
        return self.session.client(service, config=Config(signature_version=UNSIGNED, **config))

    def pool(self, **more):
        pool = self.cognito.create_identity_pool(
            IdentityPoolName="shop", AllowUnauthenticatedIdentities=False, DeveloperProviderName="login.shop", **more)
        return pool["IdentityPoolId"]

    def pool_with_google(self, **more):
        pool = self.m.pool.create(name="shop", developer_provider="login.shop", providers=[self.google.provider()], allow_classic_flow=True, **more)
        return pool.pool_id

    def role(self, pool, name="shopper"):
        return self.m.role.put(name=name, pool_id=pool).role_arn

    def token(self, pool, user="alice", **more):
        return self.cognito.get_open_id_token_for_developer_identity(IdentityPoolId=pool, Logins={"login.shop": user, **more.pop("Logins", {})}, **more)

    def fails(self, code, message, operation, **params):
        """Checks that a call fails with the given code and message."""
        with self.assertRaises(ClientError) as caught:
            operation(**params)
        error = caught.exception.response["Error"]
        self.assertEqual(error["Code"], code, error)
        if message is not None:
            self.assertEqual(error["Message"], message)
        return caught.exception


class Tutorial(Boto3Test):
    """Tests of developer authenticated identities, as in the AWS documentation."""

    def sign_in(self, pool, username, google=None):
        """Acts as the backend: returns an identity and a token for an authenticated user."""
        logins = {"login.shop": username}
        if google:
            logins[GOOGLE] = google
        response = self.cognito.get_open_id_token_for_developer_identity(IdentityPoolId=pool, Logins=logins, TokenDuration=60 * 15)
        return {"identityId": response["IdentityId"], "token": response["Token"]}

    def credentials(self, identity_id, logins):
        """Acts as the application on the user's device."""
        return self.anonymous().get_credentials_for_identity(IdentityId=identity_id, Logins=logins)

    def test_client_gets_credentials_with_the_identity_and_token_of_the_backend(self):
        pool = self.pool()
        self.cognito.set_identity_pool_roles(IdentityPoolId=pool, Roles={"authenticated": self.role(pool)})

        answer = self.sign_in(pool, "alice")
        self.assertEqual(self.sign_in(pool, "alice")["identityId"], answer["identityId"])
        self.assertNotEqual(self.sign_in(pool, "bob")["identityId"], answer["identityId"])
        claims = jwt.decode(answer["token"], options={"verify_signature": False})
        self.assertEqual((claims["sub"], claims["aud"], claims["exp"] - claims["iat"]), (answer["identityId"], pool, 900))

        response = self.credentials(answer["identityId"], {COGNITO: answer["token"]})
        self.assertEqual(response["IdentityId"], answer["identityId"])
        self.assertAlmostEqual(response["Credentials"]["Expiration"].timestamp(), time.time() + 3600, delta=30)
        me = self.session_of(response["Credentials"]).client("sts").get_caller_identity()
        self.assertEqual(me["Arn"], "arn:aws:sts::000000000000:assumed-role/shopper/CognitoIdentityCredentials")
        self.assertEqual((me["Account"], me["UserId"].split(":")[1]), ("000000000000", "CognitoIdentityCredentials"))

    def test_basic_flow_returns_credentials_for_the_token_of_the_backend(self):
        pool = self.pool()
        answer = self.sign_in(pool, "alice")
        response = self.anonymous("sts").assume_role_with_web_identity(
            RoleArn=self.role(pool), RoleSessionName="phone", WebIdentityToken=answer["token"], DurationSeconds=900)
        self.assertEqual((response["SubjectFromWebIdentityToken"], response["Audience"], response["Provider"]), (answer["identityId"], pool, COGNITO))
        self.assertEqual(response["AssumedRoleUser"]["Arn"], "arn:aws:sts::000000000000:assumed-role/shopper/phone")
        self.assertNotIn("PackedPolicySize", response)
        self.assertAlmostEqual(response["Credentials"]["Expiration"].timestamp(), time.time() + 900, delta=30)
        me = self.session_of(response["Credentials"]).client("sts").get_caller_identity()
        self.assertEqual(me["UserId"], response["AssumedRoleUser"]["AssumedRoleId"])

    def test_linked_google_login_resolves_to_the_same_identity(self):
        pool = self.pool_with_google()
        self.cognito.set_identity_pool_roles(IdentityPoolId=pool, Roles={"authenticated": self.role(pool)})
        alone = self.sign_in(pool, "alice")
        both = self.sign_in(pool, "alice", self.google.id_token("108"))
        self.assertEqual(both["identityId"], alone["identityId"])
        app = self.anonymous()
        self.assertEqual(app.get_id(IdentityPoolId=pool, Logins={GOOGLE: self.google.id_token("108")})["IdentityId"], alone["identityId"])
        self.assertEqual(self.sign_in(pool, "alice")["identityId"], alone["identityId"])
        by_google = self.credentials(alone["identityId"], {GOOGLE: self.google.id_token("108")})
        by_token = self.credentials(alone["identityId"], {COGNITO: both["token"]})
        self.assertEqual(by_google["IdentityId"], by_token["IdentityId"])
        self.assertEqual(self.cognito.describe_identity(IdentityId=alone["identityId"])["Logins"], [GOOGLE, "login.shop"])
        self.assertNotEqual(app.get_id(IdentityPoolId=pool, Logins={GOOGLE: self.google.id_token("109")})["IdentityId"], alone["identityId"])

    def test_guest_who_signs_in_keeps_the_identity(self):
        pool = self.m.pool.create(name="shop", developer_provider="login.shop", allow_unauthenticated=True).pool_id
        self.cognito.set_identity_pool_roles(
            IdentityPoolId=pool, Roles={"authenticated": self.role(pool), "unauthenticated": self.guest_role(pool)})
        guest = self.anonymous().get_id(IdentityPoolId=pool)["IdentityId"]
        self.assertNotIn("Logins", self.cognito.describe_identity(IdentityId=guest))
        self.assertEqual(self.anonymous().get_credentials_for_identity(IdentityId=guest)["IdentityId"], guest)
        self.assertEqual(self.token(pool, IdentityId=guest)["IdentityId"], guest)
        self.fails("NotAuthorizedException", f"Access to Identity '{guest}' is forbidden.", self.anonymous().get_credentials_for_identity, IdentityId=guest)

    def guest_role(self, pool):
        return self.m.role.put(name="visitor", trust_policy={"Version": "2012-10-17", "Statement": [{
            "Effect": "Allow", "Principal": {"Federated": COGNITO}, "Action": "sts:AssumeRoleWithWebIdentity",
            "Condition": {"StringEquals": {f"{COGNITO}:aud": pool}}}]}).role_arn


class Operations(Boto3Test):
    def test_all_cognito_identity_operations(self):
        called = set()
        self.session.events.register("before-call.cognito-identity", lambda model, **_: called.add(model.name))
        cognito = self.session.client("cognito-identity")
        pool = self.pool_with_google()

        created = cognito.create_identity_pool(
            IdentityPoolName="bazaar", AllowUnauthenticatedIdentities=True, AllowClassicFlow=True, DeveloperProviderName="login.bazaar",
            SupportedLoginProviders={"graph.facebook.com": "99", "www.amazon.com": "amzn1.application-oa2-client.a"},
            CognitoIdentityProviders=[{"ProviderName": "cognito-idp.eu-west-1.amazonaws.com/eu-west-1_abc", "ClientId": "web", "ServerSideTokenCheck": False}],
            IdentityPoolTags={"team": "a"})
        bazaar = created["IdentityPoolId"]
        described = cognito.describe_identity_pool(IdentityPoolId=bazaar)
        for each in (created, described):
            each.pop("ResponseMetadata")
        self.assertEqual(created, described)
        self.assertEqual(described, {
            "IdentityPoolId": bazaar, "IdentityPoolName": "bazaar", "AllowUnauthenticatedIdentities": True, "AllowClassicFlow": True,
            "DeveloperProviderName": "login.bazaar", "IdentityPoolTags": {"team": "a"},
            "SupportedLoginProviders": {"graph.facebook.com": "99", "www.amazon.com": "amzn1.application-oa2-client.a"},
            "CognitoIdentityProviders": [{"ProviderName": "cognito-idp.eu-west-1.amazonaws.com/eu-west-1_abc", "ClientId": "web", "ServerSideTokenCheck": False}]})
        updated = cognito.update_identity_pool(IdentityPoolId=bazaar, IdentityPoolName="market", AllowUnauthenticatedIdentities=True)
        updated.pop("ResponseMetadata")
        self.assertEqual(updated, {
            "IdentityPoolId": bazaar, "IdentityPoolName": "market", "AllowUnauthenticatedIdentities": True, "AllowClassicFlow": False,
            "DeveloperProviderName": "login.bazaar", "IdentityPoolTags": {}})
        self.assertEqual(
            sorted(cognito.list_identity_pools(MaxResults=60)["IdentityPools"], key=lambda each: each["IdentityPoolName"]),
            [{"IdentityPoolId": bazaar, "IdentityPoolName": "market"}, {"IdentityPoolId": pool, "IdentityPoolName": "shop"}])
        arn = f"arn:aws:cognito-identity:local-1:000000000000:identitypool/{bazaar}"
        cognito.tag_resource(ResourceArn=arn, Tags={"team": "b", "stage": "test"})
        cognito.untag_resource(ResourceArn=arn, TagKeys=["team", "never"])
        self.assertEqual(cognito.list_tags_for_resource(ResourceArn=arn)["Tags"], {"stage": "test"})

        role, other = self.role(pool), self.role(pool, "other")
        mappings = {GOOGLE: {"Type": "Rules", "AmbiguousRoleResolution": "Deny", "RulesConfiguration": {
            "Rules": [{"Claim": "hd", "MatchType": "Equals", "Value": "example.com", "RoleARN": other}]}}}
        cognito.set_identity_pool_roles(IdentityPoolId=pool, Roles={"authenticated": role}, RoleMappings=mappings)
        got = cognito.get_identity_pool_roles(IdentityPoolId=pool)
        self.assertEqual((got["Roles"], got["RoleMappings"]), ({"authenticated": role}, mappings))
        tagged = cognito.set_principal_tag_attribute_map(IdentityPoolId=pool, IdentityProviderName=GOOGLE, PrincipalTags={"mail": "email"})
        self.assertEqual((tagged["UseDefaults"], tagged["PrincipalTags"]), (False, {"mail": "email"}))
        cognito.set_principal_tag_attribute_map(IdentityPoolId=pool, IdentityProviderName=GOOGLE, UseDefaults=True)
        got = cognito.get_principal_tag_attribute_map(IdentityPoolId=pool, IdentityProviderName=GOOGLE)
        self.assertEqual((got["IdentityProviderName"], got["UseDefaults"], got["PrincipalTags"]), (GOOGLE, True, {"client": "aud", "username": "sub"}))

        carol = cognito.get_id(IdentityPoolId=pool, Logins={GOOGLE: self.google.id_token("c")})["IdentityId"]
        classic = cognito.get_open_id_token(IdentityId=carol, Logins={GOOGLE: self.google.id_token("c")})
        claims = jwt.decode(classic["Token"], options={"verify_signature": False})
        self.assertEqual((classic["IdentityId"], claims["sub"], claims["exp"] - claims["iat"]), (carol, carol, 600))
        self.assertEqual(claims["https://aws.amazon.com/tags"]["principal_tags"], {"client": [APP], "username": ["c"]})
        named = cognito.get_credentials_for_identity(IdentityId=carol, Logins={GOOGLE: self.google.id_token("c", hd="example.com")})
        self.assertEqual(self.session_of(named["Credentials"]).client("sts").get_caller_identity()["Arn"].split("/")[1], "other")
        self.fails("NotAuthorizedException", f"The ambiguous role mapping rules for: {GOOGLE} denied this request.",
                   cognito.get_credentials_for_identity, IdentityId=carol, Logins={GOOGLE: self.google.id_token("c")})

        alice = cognito.get_open_id_token_for_developer_identity(
            IdentityPoolId=pool, Logins={"login.shop": "alice"}, PrincipalTags={"plan": "gold"}, TokenDuration=86400)
        claims = jwt.decode(alice["Token"], options={"verify_signature": False})
        self.assertEqual(claims["https://aws.amazon.com/tags"]["principal_tags"], {"plan": ["gold"]})
        bob = self.token(pool, "bob")["IdentityId"]
        alice = alice["IdentityId"]
        self.assertEqual(cognito.lookup_developer_identity(IdentityPoolId=pool, DeveloperUserIdentifier="alice")["IdentityId"], alice)
        merged = cognito.merge_developer_identities(
            SourceUserIdentifier="bob", DestinationUserIdentifier="alice", DeveloperProviderName="login.shop", IdentityPoolId=pool)
        self.assertEqual(merged["IdentityId"], alice)
        found = cognito.lookup_developer_identity(IdentityPoolId=pool, IdentityId=alice, MaxResults=1)
        self.assertEqual(found["DeveloperUserIdentifierList"], ["alice"])
        found = cognito.lookup_developer_identity(IdentityPoolId=pool, IdentityId=alice, MaxResults=1, NextToken=found["NextToken"])
        self.assertEqual((found["DeveloperUserIdentifierList"], "NextToken" in found), (["bob"], False))
        cognito.unlink_developer_identity(
            IdentityId=alice, IdentityPoolId=pool, DeveloperProviderName="login.shop", DeveloperUserIdentifier="bob")
        self.assertNotIn(self.token(pool, "bob")["IdentityId"], (alice, bob))

        self.token(pool, "alice", Logins={GOOGLE: self.google.id_token("a")})
        cognito.unlink_identity(IdentityId=alice, Logins={GOOGLE: self.google.id_token("a")}, LoginsToRemove=[GOOGLE])
        person = cognito.describe_identity(IdentityId=alice)
        self.assertEqual(person["Logins"], ["login.shop"])
        self.assertAlmostEqual(person["CreationDate"].timestamp(), time.time(), delta=60)
        everyone = [each["IdentityId"] for each in cognito.list_identities(IdentityPoolId=pool, MaxResults=60)["Identities"]]
        alive = [each["IdentityId"] for each in cognito.list_identities(IdentityPoolId=pool, MaxResults=60, HideDisabled=True)["Identities"]]
        self.assertEqual(set(everyone) - set(alive), {bob})
        self.assertEqual(cognito.delete_identities(IdentityIdsToDelete=[carol, NOWHERE])["UnprocessedIdentityIds"], [])
        self.assertRaises(self.exceptions.ResourceNotFoundException, cognito.describe_identity, IdentityId=carol)
        cognito.delete_identity_pool(IdentityPoolId=pool)
        self.fails("ResourceNotFoundException", f"IdentityPool '{pool}' not found.", cognito.describe_identity_pool, IdentityPoolId=pool)

        self.assertEqual(called, set(cognito.meta.service_model.operation_names))
        self.assertEqual(len(called), 23)

    def test_lists_are_paginated(self):
        pool = self.pool()
        made = {self.cognito.create_identity_pool(IdentityPoolName=f"p{i}", AllowUnauthenticatedIdentities=False)["IdentityPoolId"] for i in range(5)}
        pages = list(self.cognito.get_paginator("list_identity_pools").paginate(PaginationConfig={"PageSize": 2}))
        self.assertEqual([len(page["IdentityPools"]) for page in pages], [2, 2, 2])
        self.assertEqual({each["IdentityPoolId"] for page in pages for each in page["IdentityPools"]}, made | {pool})
        people = {self.token(pool, f"u{i}")["IdentityId"] for i in range(3)}
        first = self.cognito.list_identities(IdentityPoolId=pool, MaxResults=2)
        second = self.cognito.list_identities(IdentityPoolId=pool, MaxResults=2, NextToken=first["NextToken"])
        self.assertEqual({each["IdentityId"] for page in (first, second) for each in page["Identities"]}, people)
        self.assertNotIn("NextToken", second)
        self.fails("InvalidParameterException", "Invalid NextToken", self.cognito.list_identity_pools, MaxResults=2, NextToken=first["NextToken"])

    def test_update_keeps_provider_settings_that_the_aws_format_cannot_express(self):
        company = {"issuer": "https://login.example.com", "clientIds": ["shop", "phone"], "keys": self.google.provider()["keys"]}
        pool = self.m.pool.create(name="shop", providers=[self.google.provider(), company]).pool_id
        shown = self.cognito.describe_identity_pool(IdentityPoolId=pool)
        oidc = "arn:aws:iam::000000000000:oidc-provider/login.example.com"
        self.assertEqual((shown["SupportedLoginProviders"], shown["OpenIdConnectProviderARNs"]), ({GOOGLE: APP}, [oidc]))
        shown.pop("ResponseMetadata")
        self.cognito.update_identity_pool(**{**shown, "AllowClassicFlow": True})
        self.cognito.get_id(IdentityPoolId=pool, Logins={GOOGLE: self.google.id_token("108")})
        kept = self.m.pool.get(pool_id=pool).providers
        self.assertEqual([(each.name, each.client_ids) for each in kept], [(GOOGLE, [APP]), ("login.example.com", ["shop", "phone"])])
        mapping = {"Type": "Token", "AmbiguousRoleResolution": "AuthenticatedRole"}
        self.cognito.set_identity_pool_roles(IdentityPoolId=pool, Roles={}, RoleMappings={oidc: mapping})
        self.assertEqual(self.cognito.get_identity_pool_roles(IdentityPoolId=pool)["RoleMappings"], {oidc: mapping})
        self.cognito.set_principal_tag_attribute_map(IdentityPoolId=pool, IdentityProviderName=oidc, PrincipalTags={"mail": "email"})
        self.assertEqual(self.m.pool.get_principal_tags(pool_id=pool, provider="login.example.com").principal_tags, {"mail": "email"})

    def test_role_mapping_of_a_user_pool_must_name_the_client(self):
        user_pool = "cognito-idp.eu-west-1.amazonaws.com/eu-west-1_abc"
        pool = self.pool(CognitoIdentityProviders=[{"ProviderName": user_pool, "ClientId": "web"}])
        mapping = {"Type": "Token", "AmbiguousRoleResolution": "Deny"}
        self.cognito.set_identity_pool_roles(IdentityPoolId=pool, Roles={}, RoleMappings={f"{user_pool}:web": mapping})
        self.assertEqual(self.cognito.get_identity_pool_roles(IdentityPoolId=pool)["RoleMappings"], {f"{user_pool}:web": mapping})
        for key in (user_pool, f"{user_pool}:phone", f"https://{user_pool}:web"):
            self.fails("InvalidParameterException", f"{key} is not a valid RoleMapping ProviderName or is not a configured provider.",
                       self.cognito.set_identity_pool_roles, IdentityPoolId=pool, Roles={}, RoleMappings={key: mapping})


class Refusals(Boto3Test):
    def test_errors_have_the_class_and_message_of_aws(self):
        cognito, errors = self.anonymous(), self.exceptions
        pool, google = self.pool_with_google(), self.google.id_token
        alice = self.token(pool)["IdentityId"]
        carol = cognito.get_id(IdentityPoolId=pool, Logins={GOOGLE: google("c")})["IdentityId"]
        now = int(time.time())
        nowhere = self.pool()
        told = [
            (errors.ResourceNotFoundException, f"IdentityPool '{NOWHERE}' not found.", cognito.get_id, {"IdentityPoolId": NOWHERE}),
            (errors.ResourceNotFoundException, f"Identity '{NOWHERE}' not found.", cognito.get_credentials_for_identity, {"IdentityId": NOWHERE}),
            (errors.NotAuthorizedException, "Unauthenticated access is not supported for this identity pool.", cognito.get_id, {"IdentityPoolId": pool}),
            (errors.NotAuthorizedException, f"Access to Identity '{alice}' is forbidden.", cognito.get_open_id_token, {"IdentityId": alice}),
            (errors.NotAuthorizedException, "Logins don't match. Please include at least one valid login for this identity or identity pool.",
             cognito.get_open_id_token, {"IdentityId": alice, "Logins": {GOOGLE: google("x")}}),
            (errors.NotAuthorizedException, "Logins don't match. Please include at least one valid login for this identity or identity pool.",
             self.cognito.get_open_id_token_for_developer_identity, {"IdentityPoolId": pool, "IdentityId": carol, "Logins": {"login.shop": "new"}}),
            (errors.NotAuthorizedException, "Invalid login token. Can't pass in a Cognito token.", cognito.get_id,
             {"IdentityPoolId": pool, "Logins": {COGNITO: self.token(pool)["Token"]}}),
            (errors.NotAuthorizedException, "Invalid login token. Can't pass in a Cognito token.", cognito.get_id,
             {"IdentityPoolId": pool, "Logins": {GOOGLE: self.token(pool)["Token"]}}),
            (errors.NotAuthorizedException, "Invalid login token. Issuer doesn't match providerName", cognito.get_id,
             {"IdentityPoolId": pool, "Logins": {GOOGLE: google("a", iss="https://evil.example")}}),
            (errors.NotAuthorizedException, None, cognito.get_id, {"IdentityPoolId": pool, "Logins": {GOOGLE: google("a", exp=now - 400)}}),
            (errors.NotAuthorizedException, "Invalid login token. Missing a required claim: aud", cognito.get_id,
             {"IdentityPoolId": pool, "Logins": {GOOGLE: google("a", aud=None)}}),
            (errors.NotAuthorizedException, "Invalid login token. Couldn't verify signed token.", cognito.get_id,
             {"IdentityPoolId": pool, "Logins": {GOOGLE: Google().id_token("a")}}),
            (errors.NotAuthorizedException, "Token is not from a supported provider of this identity pool.", cognito.get_id,
             {"IdentityPoolId": nowhere, "Logins": {GOOGLE: google("a")}}),
            (errors.NotAuthorizedException, "Access to Role 'arn:aws:iam::000000000000:role/nobody' is forbidden.", self.cognito.set_identity_pool_roles,
             {"IdentityPoolId": pool, "Roles": {"authenticated": "arn:aws:iam::000000000000:role/nobody"}}),
            (errors.InvalidParameterException, "Please provide a valid public provider", cognito.get_credentials_for_identity,
             {"IdentityId": alice, "Logins": {"login.shop": "alice"}}),
            (errors.InvalidParameterException, "Basic (classic) flow is not enabled, please use enhanced flow.", cognito.get_open_id_token,
             {"IdentityId": self.token(nowhere)["IdentityId"]}),
            (errors.InvalidParameterException, "This identity pool does not support the specified developer provider",
             self.cognito.get_open_id_token_for_developer_identity, {"IdentityPoolId": pool, "Logins": {"login.other": "alice"}}),
            (errors.InvalidIdentityPoolConfigurationException, "Invalid identity pool configuration. Check assigned IAM roles for this pool.",
             cognito.get_credentials_for_identity, {"IdentityId": alice, "Logins": {COGNITO: self.token(pool)["Token"]}}),
            (errors.DeveloperUserAlreadyRegisteredException, None, self.cognito.get_open_id_token_for_developer_identity,
             {"IdentityPoolId": pool, "IdentityId": carol, "Logins": {"login.shop": "alice"}}),
            (errors.ResourceConflictException, None, self.cognito.unlink_developer_identity,
             {"IdentityPoolId": pool, "IdentityId": carol, "DeveloperProviderName": "login.shop", "DeveloperUserIdentifier": "alice"}),
            (errors.ResourceNotFoundException, None, self.cognito.lookup_developer_identity, {"IdentityPoolId": pool, "DeveloperUserIdentifier": "nobody"}),
            (errors.InvalidParameterException, None, self.cognito.lookup_developer_identity, {"IdentityPoolId": pool}),
            (errors.InvalidParameterException, None, self.cognito.update_identity_pool,
             {"IdentityPoolId": pool, "IdentityPoolName": "x", "AllowUnauthenticatedIdentities": False, "DeveloperProviderName": "login.other"}),
            (errors.InvalidParameterException, "Invalid Cognito Identity Provider", self.cognito.create_identity_pool,
             {"IdentityPoolName": "x", "AllowUnauthenticatedIdentities": False, "CognitoIdentityProviders": [{"ClientId": "web"}]}),
            (errors.InvalidParameterException, None, self.cognito.create_identity_pool,
             {"IdentityPoolName": "x", "AllowUnauthenticatedIdentities": False, "SamlProviderARNs": ["arn:aws:iam::000000000000:saml-provider/x"]}),
            (errors.InvalidParameterException, None, self.cognito.create_identity_pool,
             {"IdentityPoolName": "x", "AllowUnauthenticatedIdentities": False, "OpenIdConnectProviderARNs": ["arn:aws:iam::111111111111:oidc-provider/x"]}),
            (errors.InvalidParameterException, None, self.cognito.create_identity_pool,
             {"IdentityPoolName": "x", "AllowUnauthenticatedIdentities": False, "IdentityPoolTags": {f"k{i}": "v" for i in range(51)}}),
            (errors.ResourceNotFoundException, None, self.cognito.get_principal_tag_attribute_map, {"IdentityPoolId": pool, "IdentityProviderName": GOOGLE}),
            (errors.ResourceNotFoundException, None, self.cognito.list_tags_for_resource, {"ResourceArn": "arn:aws:s3:::a-bucket-of-mine"}),
        ]
        for kind, message, operation, params in told:
            with self.subTest(operation=operation.__name__, kind=kind.__name__, message=message):
                error = self.fails(kind.__name__, message, operation, **params)
                self.assertIsInstance(error, (kind, getattr(self.anonymous().exceptions, kind.__name__)))
                self.assertEqual(error.response["ResponseMetadata"]["HTTPStatusCode"], 400)
        error = self.fails("NotAuthorizedException", None, cognito.get_id, IdentityPoolId=pool, Logins={GOOGLE: google("a", exp=now - 400)})
        self.assertRegex(str(error), rf"Invalid login token\. Token expired: \d+ >= {now - 400}$")

    def test_merged_identity_is_forbidden(self):
        pool = self.pool()
        bob, _ = self.token(pool, "bob"), self.token(pool)
        self.cognito.merge_developer_identities(
            SourceUserIdentifier="bob", DestinationUserIdentifier="alice", DeveloperProviderName="login.shop", IdentityPoolId=pool)
        self.fails("NotAuthorizedException", f"Access to Identity '{bob['IdentityId']}' is forbidden.",
                   self.anonymous().get_credentials_for_identity, IdentityId=bob["IdentityId"], Logins={COGNITO: bob["Token"]})

    def test_token_of_another_identity_is_not_authorized(self):
        pool = self.pool()
        self.cognito.set_identity_pool_roles(IdentityPoolId=pool, Roles={"authenticated": self.role(pool)})
        self.fails("NotAuthorizedException", "Logins don't match. Please include at least one valid login for this identity or identity pool.",
                   self.anonymous().get_credentials_for_identity, IdentityId=self.token(pool, "bob")["IdentityId"], Logins={COGNITO: self.token(pool)["Token"]})

    def test_constraint_violations_have_the_message_of_the_aws_model(self):
        client = self.session.client("cognito-identity", config=Config(parameter_validation=False))
        sts = self.session.client("sts", config=Config(parameter_validation=False))
        checks = 0
        for service, code, names in ((client, "ValidationException", None), (sts, "ValidationError", ["AssumeRoleWithWebIdentity"])):
            for name in names or service.meta.service_model.operation_names:
                shape = service.meta.service_model.operation_model(name).input_shape
                operation = getattr(service, xform_name(name))
                if shape.required_members:
                    text = str(self.fails(code, None, operation))
                    many = len(shape.required_members)
                    self.assertIn(f" {many} validation error{'s' if many > 1 else ''} detected: ", text)
                    for member in shape.required_members:
                        self.assertIn(f"Value null at '{lowered(member)}' failed to satisfy constraint: Member must not be null", text)
                for member, kind in shape.members.items():
                    for value, constraint in broken(kind):
                        with self.subTest(operation=name, member=member, constraint=constraint):
                            shown = "" if kind.metadata.get("sensitive") else f" '{value}'"
                            text = str(self.fails(code, None, operation, **{member: value}))
                            self.assertIn(f"Value{shown} at '{lowered(member)}' failed to satisfy constraint: {constraint}", text)
                            checks += 1
        self.assertGreater(checks, 100)

    def test_constraints_in_maps_lists_and_structures_are_checked(self):
        pool = self.pool()
        told = [
            (self.cognito.get_id, {"IdentityPoolId": pool, "Logins": {"x" * 129: "t"}},
             "Value at 'logins' failed to satisfy constraint: Map keys must satisfy constraint: [Member must have length less than or equal to 128, Member must have length greater than or equal to 1]"),
            (self.cognito.get_id, {"IdentityPoolId": pool, "Logins": {"x": "t" * 50001}},
             "Value at 'logins' failed to satisfy constraint: Map value must satisfy constraint: [Member must have length less than or equal to 50000, Member must have length greater than or equal to 1]"),
            (self.cognito.delete_identities, {"IdentityIdsToDelete": ["nonsense"]},
             r"Value '[nonsense]' at 'identityIdsToDelete' failed to satisfy constraint: Member must satisfy constraint: [Member must have length less than or equal to 55, Member must have length greater than or equal to 1, Member must satisfy regular expression pattern: [\w-]+:[0-9a-f-]+]"),
            (self.cognito.create_identity_pool, {"IdentityPoolName": "x", "AllowUnauthenticatedIdentities": True, "CognitoIdentityProviders": [{"ProviderName": "a b"}]},
             r"Value 'a b' at 'cognitoIdentityProviders.1.member.providerName' failed to satisfy constraint: Member must satisfy regular expression pattern: [\w._:/-]+"),
            (self.cognito.set_identity_pool_roles, {"IdentityPoolId": pool, "Roles": {}, "RoleMappings": {GOOGLE: {"Type": "Other"}}},
             "Value 'Other' at 'roleMappings.accounts.google.com.member.type' failed to satisfy constraint: Member must satisfy enum value set: [Token, Rules]"),
        ]
        for operation, params, text in told:
            with self.subTest(text):
                self.fails("ValidationException", f"1 validation error detected: {text}", operation, **params)

    def test_sts_errors_and_session_policy(self):
        pool = self.pool()
        role, token = self.role(pool), self.token(pool)["Token"]
        def assume(**more):
            return {"RoleArn": role, "RoleSessionName": "phone", "WebIdentityToken": token, **more}
        call = self.anonymous("sts").assume_role_with_web_identity
        elsewhere = self.token(self.pool())["Token"]
        told = [
            ("AccessDenied", 403, "Not authorized to perform sts:AssumeRoleWithWebIdentity", assume(WebIdentityToken=elsewhere)),
            ("AccessDenied", 403, "Not authorized to perform sts:AssumeRoleWithWebIdentity", assume(RoleArn="arn:aws:iam::000000000000:role/nobody")),
            ("InvalidIdentityToken", 400, None, assume(WebIdentityToken="nonsense")),
            ("InvalidIdentityToken", 400, None, assume(WebIdentityToken=token[:-3] + "AAA")),
            ("ValidationError", 400, "The requested DurationSeconds exceeds the MaxSessionDuration set for this role.", assume(DurationSeconds=3601)),
            ("ValidationError", 400, None, assume(ProviderId="www.amazon.com")),
            ("ValidationError", 400, None, assume(MinimumSessionTokenSize=4096)),
            ("ValidationError", 400, None, assume(PolicyArns=[{"arn": "arn:aws:iam::aws:policy/ReadOnlyAccess"}])),
            ("MalformedPolicyDocument", 400, None, assume(Policy="{")),
            ("MalformedPolicyDocument", 400, None, assume(Policy='{"Version": "2012-10-17", "Statement": "x"}')),
        ]
        for code, status, message, params in told:
            with self.subTest(code=code, message=message):
                error = self.fails(code, message, call, **params)
                self.assertEqual(error.response["ResponseMetadata"]["HTTPStatusCode"], status)
                self.assertEqual(error.response["Error"]["Type"], "Sender")
        policy = json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}]})
        self.assertGreater(call(**assume(Policy=policy))["PackedPolicySize"], 0)
        now = int(self.m.test.clock(freeze=True, advance_seconds=901).now.timestamp())
        expires = jwt.decode(token, options={"verify_signature": False})["exp"]
        error = self.fails("ExpiredTokenException", f"Token expired: current date/time {now} must be before the expiration date/time {expires}", call, **assume())
        self.assertIsInstance(error, self.anonymous("sts").exceptions.ClientError)
        self.fails("InvalidAction", "Could not find operation GetSessionToken for version 2011-06-15", self.sts.get_session_token)


class Signatures(Boto3Test):
    def credentials(self):
        pool = self.pool()
        self.cognito.set_identity_pool_roles(IdentityPoolId=pool, Roles={"authenticated": self.role(pool)})
        token = self.token(pool)
        return pool, self.anonymous().get_credentials_for_identity(IdentityId=token["IdentityId"], Logins={COGNITO: token["Token"]})["Credentials"]

    def test_credentials_unknown_to_mintmark_belong_to_the_account_root(self):
        self.assertEqual(self.sts.get_caller_identity()["Arn"], "arn:aws:iam::000000000000:root")
        elsewhere = self.connected("ASIAIOSFODNN7EXAMPLE", "secret", "a token of Amazon's").client("cognito-identity")
        self.assertEqual(elsewhere.list_identity_pools(MaxResults=1)["IdentityPools"], [])

    def test_developer_operations_require_a_signature(self):
        self.fails("MissingAuthenticationTokenException", "Missing Authentication Token", self.anonymous().list_identity_pools, MaxResults=1)
        self.fails("MissingAuthenticationToken", "Missing Authentication Token", self.anonymous("sts").get_caller_identity)

    def test_developer_operations_reject_temporary_credentials(self):
        pool, credentials = self.credentials()
        theirs = self.session_of(credentials)
        arn = "arn:aws:sts::000000000000:assumed-role/shopper/CognitoIdentityCredentials"
        self.fails("AccessDeniedException", f"User: {arn} is not authorized to perform: cognito-identity:GetOpenIdTokenForDeveloperIdentity",
                   theirs.client("cognito-identity").get_open_id_token_for_developer_identity, IdentityPoolId=pool, Logins={"login.shop": "bob"})
        self.assertEqual(theirs.client("sts").get_caller_identity()["Arn"], arn)

    def test_get_caller_identity_requires_valid_and_current_credentials(self):
        _, credentials = self.credentials()
        forged = self.session_of({**credentials, "SecretKey": "A" + credentials["SecretKey"][1:-1] + "!"})
        self.fails("SignatureDoesNotMatch", None, forged.client("sts").get_caller_identity)
        altered = self.session_of({**credentials, "SessionToken": credentials["SessionToken"][:-4] + "AAAA"})
        self.fails("InvalidClientTokenId", "The security token included in the request is invalid.", altered.client("sts").get_caller_identity)
        self.m.test.clock(advance_seconds=3601)
        self.fails("ExpiredToken", "The security token included in the request is expired", self.session_of(credentials).client("sts").get_caller_identity)
        self.fails("ExpiredTokenException", None, self.session_of(credentials).client("cognito-identity").list_identity_pools, MaxResults=1)


class Connection(Boto3Test):
    def test_two_sessions_use_separate_services(self):
        other = boto3.Session("a", "b", region_name="eu-west-1")
        mintmark.boto3.connect(other, self.memory())
        self.pool()
        self.assertEqual(len(self.cognito.list_identity_pools(MaxResults=9)["IdentityPools"]), 1)
        self.assertEqual(other.client("cognito-identity").list_identity_pools(MaxResults=9)["IdentityPools"], [])

    def test_closed_client_sends_no_requests_to_aws(self):
        sent = []
        self.session.events.register("response-received.cognito-identity", lambda **received: sent.append(received["response_dict"]))
        client = self.session.client("cognito-identity", config=Config(retries={"max_attempts": 0}))
        self.m.close()
        with self.assertRaises(MintmarkError):
            client.list_identity_pools(MaxResults=1)
        self.assertEqual([each for each in sent if each], [])

    def test_special_characters_survive_a_round_trip(self):
        pool = self.pool()
        for user in ("a&b=c+d %41", "zoë ☃ 𝄞", '"quoted\\', "<tag>"):
            self.token(pool, user)
            found = self.cognito.lookup_developer_identity(IdentityPoolId=pool, DeveloperUserIdentifier=user)
            self.assertEqual(found["DeveloperUserIdentifierList"], [user])


def lowered(name):
    return name[0].lower() + name[1:]


def broken(shape):
    """Yields values that violate the constraints of a scalar in the AWS model, with each constraint."""
    least, most, pattern = (shape.metadata.get(each) for each in ("min", "max", "pattern"))
    if shape.type_name in ("integer", "long"):
        yield least - 1, f"Member must have value greater than or equal to {least}"
        yield most + 1, f"Member must have value less than or equal to {most}"
    if shape.type_name == "string" and not shape.enum:
        if most:
            yield "a" * (most + 1), f"Member must have length less than or equal to {most}"
        if least:
            yield "a" * (least - 1), f"Member must have length greater than or equal to {least}"
        if pattern and shape.name != "arnType":
            yield "☃ ", f"Member must satisfy regular expression pattern: {pattern}"
