"""Amazon Cognito user pools as login providers: role mappings apply to one app client, and `amr` has a specific form."""

import json

import jwt

from endtoend import PRINCIPAL, SIGNED, EndToEnd, trust
from test_compat import TARGET
from test_logins import Provider

NAME = "cognito-idp.eu-west-1.amazonaws.com/eu-west-1_abc"
DENY = {"source": "rules", "ambiguousRoleResolution": "deny", "rules": [{"claim": "cognito:groups", "matchType": "contains", "value": "staff", "roleArn": None}]}
DEFAULT = {"source": "token", "ambiguousRoleResolution": "authenticatedRole"}


class UserPools(EndToEnd):
    @classmethod
    def setUpClass(cls):
        cls.provider = Provider(f"https://{NAME}", algorithm="RS256")

    def setUp(self):
        super().setUp()
        self.sidecar = self.spawn()
        self.pool = self.call("pool.create", name="shop", allowClassicFlow=True, providers=[self.provider.settings(clientIds=["web", "mobile"])])["poolId"]
        self.reader = self.role("reader", trust(pool=self.pool))
        self.editor = self.role("editor", trust(pool=self.pool))
        self.deny = {**DENY, "rules": [{**DENY["rules"][0], "roleArn": self.editor}]}

    def call(self, method, **params):
        return self.sidecar.call(method, params)

    def role(self, name, policy):
        return self.call("role.put", name=name, trustPolicy=policy)["roleArn"]

    def map(self, mappings):
        return self.call("pool.setRoles", poolId=self.pool, roles={"authenticated": self.reader}, mappings=mappings)

    def login(self, client="web", subject="carol", **claims):
        return {NAME: self.provider.token(subject, aud=client, token_use="id", **claims)}

    def role_of(self, **more):
        logins = self.login(**more)
        id = self.call("identity.resolve", poolId=self.pool, logins=logins)["identityId"]
        return self.call("credentials.get", identityId=id, logins=logins)["roleArn"]

    def ask(self, operation, **body):
        answer = self.sidecar.call("compat.http", {
            "method": "POST", "url": "https://cognito-identity.eu-west-1.amazonaws.com/",
            "headers": {"x-amz-target": TARGET + operation, **SIGNED}, "body": json.dumps(body)})
        return answer["status"], json.loads(answer["body"]) if answer["body"] else None

    def test_mapping_of_one_app_client_does_not_affect_others(self):
        self.map({f"{NAME}:web": self.deny})
        self.assertEqual(self.role_of(client="mobile"), self.reader)
        self.assertEqual(self.role_of(client="web", **{"cognito:groups": ["staff"]}), self.editor)
        error = self.refused("ambiguousRoleDenied", self.sidecar, "credentials.get", {
            "identityId": self.call("identity.resolve", poolId=self.pool, logins=self.login())["identityId"], "logins": self.login()})
        self.assertEqual(error.data["provider"], f"{NAME}:web")

    def test_each_app_client_has_a_separate_mapping(self):
        self.map({f"{NAME}:web": self.deny, f"{NAME}:mobile": DEFAULT})
        self.assertEqual(set(self.call("pool.getRoles", poolId=self.pool)["mappings"]), {f"{NAME}:web", f"{NAME}:mobile"})
        self.assertEqual(self.role_of(client="mobile", **{"cognito:preferred_role": self.editor}), self.editor)
        # If the token has azp, azp selects the mapping.
        self.assertEqual(self.role_of(client="web", azp="mobile"), self.reader)

    def test_mapping_key_without_a_configured_app_client_fails(self):
        for key in (NAME, f"{NAME}:other", f"{NAME}:", f"https://{NAME}:web", f"{NAME}:web:mobile"):
            error = self.refused("invalidRoleMapping", self.sidecar, "pool.setRoles", {"poolId": self.pool, "roles": {}, "mappings": {key: DEFAULT}})
            self.assertEqual(error.data["provider"], key)
        error = self.sidecar.refusal("pool.setRoles", {"poolId": self.pool, "roles": {}, "mappings": {NAME: DEFAULT}})
        self.assertIn(f"{NAME}:<clientId>", error.message)

    def test_system_apply_maps_app_clients(self):
        def document(key):
            return {"pools": [{"poolId": self.pool, "name": "shop", "providers": [self.provider.settings(clientIds=["web", "mobile"])],
                               "mappings": {key: DEFAULT}}]}
        self.call("system.apply", **document(f"{NAME}:mobile"))
        self.assertEqual(list(self.call("pool.getRoles", poolId=self.pool)["mappings"]), [f"{NAME}:mobile"])
        place = f"/pools/0/mappings/{NAME.replace('/', '~1')}"
        self.assertEqual(self.violations(self.sidecar, "system.apply", document(NAME)), {(place, "invalidRoleMapping")})

    def test_cognito_api_keeps_one_mapping_per_app_client(self):
        deny = {"Type": "Rules", "AmbiguousRoleResolution": "Deny", "RulesConfiguration": {"Rules": [
            {"Claim": "cognito:groups", "MatchType": "Contains", "Value": "staff", "RoleARN": self.editor}]}}
        default = {"Type": "Token", "AmbiguousRoleResolution": "AuthenticatedRole"}
        roles = {"authenticated": self.reader}
        for mappings in ({f"{NAME}:web": deny}, {f"{NAME}:web": deny, f"{NAME}:mobile": default}):
            self.assertEqual(self.ask("SetIdentityPoolRoles", IdentityPoolId=self.pool, Roles=roles, RoleMappings=mappings), (200, None))
            got = self.ask("GetIdentityPoolRoles", IdentityPoolId=self.pool)[1]
            self.assertEqual(got, {"IdentityPoolId": self.pool, "Roles": roles, "RoleMappings": mappings})
            self.assertEqual(self.role_of(client="mobile"), self.reader)
        for key in (NAME, f"{NAME}:other"):
            status, error = self.ask("SetIdentityPoolRoles", IdentityPoolId=self.pool, Roles=roles, RoleMappings={key: default})
            self.assertEqual((status, error), (400, {
                "__type": "InvalidParameterException", "message": f"{key} is not a valid RoleMapping ProviderName or is not a configured provider."}))

    def test_amr_names_the_user_pool_sign_in_and_trust_policies_can_require_it(self):
        logins, qualified = self.login(), f"{NAME}:CognitoSignIn:carol"
        id = self.call("identity.resolve", poolId=self.pool, logins=logins)["identityId"]
        token = self.call("token.mint", identityId=id, logins=logins)["token"]
        self.assertEqual(jwt.decode(token, options={"verify_signature": False})["amr"], ["authenticated", NAME, qualified])
        only_carol = self.role("carol", trust(**{"StringEquals": {f"{PRINCIPAL}:aud": self.pool}, "ForAnyValue:StringEquals": {f"{PRINCIPAL}:amr": qualified}}))
        self.assertEqual(self.call("credentials.assumeRole", roleArn=only_carol, sessionName="me", token=token)["subject"], id)
        self.call("pool.setRoles", poolId=self.pool, roles={"authenticated": only_carol})
        self.assertEqual(self.role_of(), only_carol)
        logins = self.login(subject="dave")
        other = self.call("identity.resolve", poolId=self.pool, logins=logins)["identityId"]
        self.refused("roleNotConfigured", self.sidecar, "credentials.get", {"identityId": other, "logins": logins})
