"""A set-up script for AWS runs unchanged: boto3 creates the OpenID provider and the role with IAM, and exchanges tokens with STS."""

import json
import time

import boto3
import botocore.config
import botocore.exceptions
from botocore import UNSIGNED

from endtoend import EndToEnd
from websites import DISCOVERY, OpenIDWebsite
from workloads import FAMILIES, arn, trusting

PERMISSIONS = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}]}
READ_ONLY = "arn:aws:iam::aws:policy/ReadOnlyAccess"


class IAM(EndToEnd):
    stores = ("sqlite",)

    def setUp(self):
        super().setUp()
        self.sidecar = self.spawn(testing=True)
        self.url = self.sidecar.call("test.http")["baseUrl"]
        self.iam = self.client("iam", aws_access_key_id="AKIAIOSFODNN7EXAMPLE", aws_secret_access_key="secret")
        self.sts = self.client("sts", signature_version=UNSIGNED)
        self.site = OpenIDWebsite(algorithm="RS256")
        self.addCleanup(self.site.close)

    def client(self, service, signature_version=None, attempts=1, **more):
        config = botocore.config.Config(
            signature_version=signature_version, retries={"mode": "standard", "total_max_attempts": attempts}, proxies={})
        return boto3.client(service, region_name="us-east-1", endpoint_url=self.url, config=config, **more)

    def fails(self, code, status, operation, **params):
        with self.assertRaises(botocore.exceptions.ClientError) as refused:
            operation(**params)
        response = refused.exception.response
        self.assertEqual((response["Error"]["Code"], response["ResponseMetadata"]["HTTPStatusCode"]), (code, status), response)
        return response["Error"]["Message"]

    def policy(self, **more):
        return trusting(arn(self.site.name), StringEquals={f"{self.site.name}:sub": "carol", f"{self.site.name}:aud": "shop", **more})

    def provider(self):
        return self.iam.create_open_id_connect_provider(
            Url=self.site.issuer, ClientIDList=["shop"], ThumbprintList=["a" * 40], Tags=[{"Key": "team", "Value": "blue"}])["OpenIDConnectProviderArn"]

    def role(self, policy=None, **more):
        return self.iam.create_role(RoleName="deploy", AssumeRolePolicyDocument=json.dumps(policy or self.policy()), **more)["Role"]

    def assume(self, token, role="deploy", **more):
        return self.sts.assume_role_with_web_identity(RoleArn=f"arn:aws:iam::000000000000:role/{role}", RoleSessionName="job", WebIdentityToken=token, **more)

    def test_whole_set_up_script(self):
        self.assertEqual(self.provider(), arn(self.site.name))
        role = self.role(Description="Deploys.", MaxSessionDuration=7200, Tags=[{"Key": "team", "Value": "blue"}])
        self.assertEqual((role["Arn"], role["Path"], role["MaxSessionDuration"]), ("arn:aws:iam::000000000000:role/deploy", "/", 7200))
        self.assertEqual(role["AssumeRolePolicyDocument"], self.policy())
        answer = self.assume(self.site.token(), DurationSeconds=7200)
        self.assertEqual((answer["SubjectFromWebIdentityToken"], answer["Audience"], answer["Provider"]), ("carol", "shop", arn(self.site.name)))
        self.assertTrue(answer["AssumedRoleUser"]["AssumedRoleId"].endswith(":job"))
        keys = answer["Credentials"]
        caller = self.client("sts", aws_access_key_id=keys["AccessKeyId"], aws_secret_access_key=keys["SecretAccessKey"], aws_session_token=keys["SessionToken"])
        # The signature is verified in full: the test server is addressed by the host that was signed.
        self.assertEqual(caller.get_caller_identity()["Arn"], "arn:aws:sts::000000000000:assumed-role/deploy/job")

    def test_provider_operations(self):
        name = self.provider()
        self.fails("EntityAlreadyExists", 409, self.iam.create_open_id_connect_provider, Url=self.site.issuer)
        self.fails("InvalidInput", 400, self.iam.create_open_id_connect_provider, Url="https://login.example.com/?a=1")
        self.fails("InvalidInput", 400, self.iam.create_open_id_connect_provider, Url="ftp://login.example.com")
        found = self.iam.get_open_id_connect_provider(OpenIDConnectProviderArn=name)
        self.assertEqual((found["Url"], found["ClientIDList"], found["ThumbprintList"], found["Tags"]), (
            self.site.name, ["shop"], ["a" * 40], [{"Key": "team", "Value": "blue"}]))
        for _ in range(2):
            self.iam.add_client_id_to_open_id_connect_provider(OpenIDConnectProviderArn=name, ClientID="web")
        self.iam.remove_client_id_from_open_id_connect_provider(OpenIDConnectProviderArn=name, ClientID="nobody")
        self.iam.update_open_id_connect_provider_thumbprint(OpenIDConnectProviderArn=name, ThumbprintList=["b" * 40])
        self.iam.tag_open_id_connect_provider(OpenIDConnectProviderArn=name, Tags=[{"Key": "stage", "Value": "prod"}])
        self.iam.untag_open_id_connect_provider(OpenIDConnectProviderArn=name, TagKeys=["team"])
        found = self.iam.get_open_id_connect_provider(OpenIDConnectProviderArn=name)
        self.assertEqual((found["ClientIDList"], found["ThumbprintList"]), (["shop", "web"], ["b" * 40]))
        self.assertEqual(self.iam.list_open_id_connect_provider_tags(OpenIDConnectProviderArn=name)["Tags"], [{"Key": "stage", "Value": "prod"}])
        self.assertEqual(self.iam.list_open_id_connect_providers()["OpenIDConnectProviderList"], [{"Arn": name}])
        for _ in range(2):
            self.iam.delete_open_id_connect_provider(OpenIDConnectProviderArn=name)
        self.fails("NoSuchEntity", 404, self.iam.get_open_id_connect_provider, OpenIDConnectProviderArn=name)
        empty = self.iam.create_open_id_connect_provider(Url="https://empty.example.com")["OpenIDConnectProviderArn"]
        self.assertEqual(self.iam.get_open_id_connect_provider(OpenIDConnectProviderArn=empty)["ClientIDList"], [])

    def test_role_operations(self):
        self.fails("MalformedPolicyDocument", 400, self.role)
        self.provider()
        self.role()
        self.fails("EntityAlreadyExists", 409, self.role)
        self.fails("InvalidInput", 400, self.iam.create_role, RoleName="x", Path="/a/", AssumeRolePolicyDocument=json.dumps(self.policy()))
        self.fails("MalformedPolicyDocument", 400, self.iam.update_assume_role_policy, RoleName="deploy", PolicyDocument="{")
        new = self.policy(**{f"{self.site.name}:ref": "main"})
        self.iam.update_assume_role_policy(RoleName="deploy", PolicyDocument=json.dumps(new))
        self.iam.update_role(RoleName="deploy", Description="New.", MaxSessionDuration=3700)
        self.iam.tag_role(RoleName="deploy", Tags=[{"Key": "a", "Value": "1"}, {"Key": "b", "Value": "2"}])
        self.iam.untag_role(RoleName="deploy", TagKeys=["a"])
        found = self.iam.get_role(RoleName="deploy")["Role"]
        self.assertEqual((found["AssumeRolePolicyDocument"], found["Description"], found["MaxSessionDuration"], found["Tags"]), (
            new, "New.", 3700, [{"Key": "b", "Value": "2"}]))
        self.assertEqual(self.iam.list_role_tags(RoleName="deploy")["Tags"], [{"Key": "b", "Value": "2"}])
        for number in range(5):
            self.iam.create_role(RoleName=f"role-{number}", AssumeRolePolicyDocument=json.dumps(self.policy()))
        pages = self.iam.get_paginator("list_roles").paginate(PaginationConfig={"PageSize": 2})
        self.assertEqual([role["RoleName"] for page in pages for role in page["Roles"]], ["deploy"] + [f"role-{number}" for number in range(5)])
        self.assertEqual(self.iam.update_role_description(RoleName="role-0", Description="Newer.")["Role"]["Description"], "Newer.")
        self.assertEqual(self.iam.get_role(RoleName="role-0")["Role"]["Description"], "Newer.")
        # Terraform asks for the instance profiles before it deletes a role.
        self.assertEqual(self.iam.list_instance_profiles_for_role(RoleName="role-0")["InstanceProfiles"], [])
        self.iam.delete_role(RoleName="role-0")
        self.fails("NoSuchEntity", 404, self.iam.list_instance_profiles_for_role, RoleName="role-0")
        self.fails("NoSuchEntity", 404, self.iam.update_role_description, RoleName="role-0", Description="x")
        self.fails("NoSuchEntity", 404, self.iam.get_role, RoleName="role-0")
        self.fails("NoSuchEntity", 404, self.iam.delete_role, RoleName="role-0")
        self.assertIn("CreateRole", self.fails("InvalidAction", 400, self.iam.create_user, UserName="x"))

    def test_permission_policies_are_stored_and_returned(self):
        self.provider()
        self.role()
        self.iam.put_role_policy(RoleName="deploy", PolicyName="read", PolicyDocument=json.dumps(PERMISSIONS))
        self.iam.attach_role_policy(RoleName="deploy", PolicyArn=READ_ONLY)
        self.assertEqual(self.iam.get_role_policy(RoleName="deploy", PolicyName="read")["PolicyDocument"], PERMISSIONS)
        self.assertEqual(self.iam.list_role_policies(RoleName="deploy")["PolicyNames"], ["read"])
        self.assertEqual(self.iam.list_attached_role_policies(RoleName="deploy")["AttachedPolicies"], [{"PolicyName": "ReadOnlyAccess", "PolicyArn": READ_ONLY}])
        session = self.assume(self.site.token())["Credentials"]["SessionToken"]
        self.assertEqual(self.sidecar.call("credentials.verify", {"sessionToken": session})["rolePolicies"], {"inline": {"read": PERMISSIONS}, "attached": [READ_ONLY]})
        self.fails("DeleteConflict", 409, self.iam.delete_role, RoleName="deploy")
        self.iam.delete_role_policy(RoleName="deploy", PolicyName="read")
        self.fails("NoSuchEntity", 404, self.iam.delete_role_policy, RoleName="deploy", PolicyName="read")
        self.fails("DeleteConflict", 409, self.iam.delete_role, RoleName="deploy")
        self.iam.detach_role_policy(RoleName="deploy", PolicyArn=READ_ONLY)
        self.fails("MalformedPolicyDocument", 400, self.iam.put_role_policy, RoleName="deploy", PolicyName="x", PolicyDocument="[]")
        self.fails("InvalidInput", 400, self.iam.attach_role_policy, RoleName="deploy", PolicyArn="arn:aws:iam::aws:role/somebody")
        self.iam.delete_role(RoleName="deploy")

    def test_error_codes_of_tokens(self):
        self.provider()
        self.role()
        now = int(time.time())
        site = self.site
        cases = [
            ("InvalidIdentityToken", 400, "abcd", "The ID Token provided is not a valid JWT."),
            ("InvalidIdentityToken", 400, site.token(iss="https://nobody.example"), "No OpenIDConnect provider found in your account for https://nobody.example"),
            ("InvalidIdentityToken", 400, site.token(kid="other"), "Couldn't retrieve verification key from your identity provider"),
            ("InvalidIdentityToken", 400, site.token(aud="other"), "Incorrect token audience"),
            ("InvalidIdentityToken", 400, site.token(exp=now + 200_000), ""),
            ("InvalidIdentityToken", 400, site.token(iat=now + 1000), ""),
            ("InvalidIdentityToken", 400, site.token(**{"https://aws.amazon.com/tags": {"principal_tags": {"a": "b"}}}), ""),
            ("ExpiredTokenException", 400, site.token(exp=now - 301, iat=now - 900), "Token expired: current date/time"),
            ("IDPRejectedClaim", 403, site.token(cnf={"jkt": "x"}), ""),
            ("AccessDenied", 403, site.token("mallory"), "Not authorized to perform sts:AssumeRoleWithWebIdentity"),
        ]
        for code, status, token, message in cases:
            with self.subTest(code, message=message):
                self.assertIn(message, self.fails(code, status, self.assume, token=token))
        self.assertIn("sts:AssumeRoleWithWebIdentity", self.fails("AccessDenied", 403, self.assume, token=site.token(), role="nobody"))
        self.fails("ValidationError", 400, self.assume, token=site.token(), ProviderId="www.amazon.com")

    def test_only_an_unreachable_issuer_is_tried_again(self):
        self.provider()
        self.role()
        good = self.site.pages[DISCOVERY]
        self.site.pages[DISCOVERY] = (503, {}, b"")
        self.assertIn("503", self.fails("IDPCommunicationError", 400, self.assume, token=self.site.token()))
        self.site.pages[DISCOVERY] = good
        patient = self.client("sts", UNSIGNED, attempts=10)
        answer = patient.assume_role_with_web_identity(
            RoleArn="arn:aws:iam::000000000000:role/deploy", RoleSessionName="job", WebIdentityToken=self.site.token())
        self.assertGreater(answer["ResponseMetadata"]["RetryAttempts"], 0)
        with self.assertRaises(botocore.exceptions.ClientError) as refused:
            patient.assume_role_with_web_identity(
                RoleArn="arn:aws:iam::000000000000:role/deploy", RoleSessionName="job", WebIdentityToken=self.site.token(aud="other"))
        self.assertEqual(refused.exception.response["ResponseMetadata"]["RetryAttempts"], 0)

    def test_every_family_by_boto3(self):
        for name, make in FAMILIES.items():
            with self.subTest(name):
                family = make()
                family.put(self.sidecar)
                self.iam.create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps(family.policy))
                answer = self.assume(family.token(), role=name)
                self.assertEqual(answer["SubjectFromWebIdentityToken"], family.claims["sub"])
                self.assertEqual(answer["Provider"], "accounts.google.com" if name == "google" else family.principal)

    def test_pool_takes_the_audiences_of_a_provider(self):
        name = self.provider()
        cognito = self.client("cognito-identity", aws_access_key_id="AKIAIOSFODNN7EXAMPLE", aws_secret_access_key="secret")
        pool = cognito.create_identity_pool(IdentityPoolName="shop", AllowUnauthenticatedIdentities=False, OpenIdConnectProviderARNs=[name])
        found = self.sidecar.call("pool.get", {"poolId": pool["IdentityPoolId"]})["providers"][0]
        self.assertEqual((found["issuer"], found["clientIds"]), (self.site.issuer, ["shop"]))

    def test_signature_of_issued_credentials_is_refused(self):
        self.provider()
        self.role()
        keys = self.assume(self.site.token())["Credentials"]
        user = self.client("iam", aws_access_key_id=keys["AccessKeyId"], aws_secret_access_key=keys["SecretAccessKey"], aws_session_token=keys["SessionToken"])
        self.fails("AccessDenied", 403, user.list_roles)
