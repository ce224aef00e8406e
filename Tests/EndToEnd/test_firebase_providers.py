"""Configurations of identity providers, as the Admin SDK and the descriptions of the API manage them, and sign-ins that are refused with a reason."""

import unittest

from firebase_admin import auth, exceptions, tenant_mgt

from firebase import PROJECT, FirebaseProject

SAML = {"idp_entity_id": "idp", "sso_url": "https://login.example.com/sso", "x509_certificates": ["c1"], "rp_entity_id": "rp",
        "callback_url": "https://demo.firebaseapp.com/__/auth/handler"}
OIDC = {"client_id": "c", "issuer": "https://login.example.com"}


class Providers(FirebaseProject):
    def tenant(self):
        made = self.admin(f"v2/projects/{PROJECT}/tenants", {"displayName": "Work", "allowPasswordSignup": True})
        return tenant_mgt.auth_for_tenant(made["name"].split("/")[-1], app=self.app)

    def clients(self):
        class Project:
            def __getattr__(this, name):
                return lambda *more, **named: getattr(auth, name)(*more, **named, app=self.app)
        return [("project", Project()), ("tenant", self.tenant())]

    def test_every_function_for_saml(self):
        for name, client in self.clients():
            with self.subTest(name):
                made = client.create_saml_provider_config(provider_id="saml.work", display_name="Work", enabled=True, **SAML)
                self.assertEqual((made.provider_id, made.display_name, made.enabled), ("saml.work", "Work", True))
                self.assertEqual((made.idp_entity_id, made.sso_url, made.x509_certificates, made.callback_url, made.rp_entity_id),
                                 (SAML["idp_entity_id"], SAML["sso_url"], ["c1"], SAML["callback_url"], "rp"))
                self.assertEqual(client.get_saml_provider_config("saml.work").sso_url, SAML["sso_url"])
                client.create_saml_provider_config(provider_id="saml.other", **SAML)
                listed = client.list_saml_provider_configs(max_results=1)
                self.assertEqual([config.provider_id for config in listed.iterate_all()], ["saml.other", "saml.work"])
                self.assertTrue(listed.has_next_page)
                changed = client.update_saml_provider_config(
                    "saml.work", display_name=auth.DELETE_ATTRIBUTE, enabled=False, x509_certificates=["c2", "c3"], sso_url="https://other.example.com/")
                self.assertEqual((changed.display_name, changed.enabled, changed.x509_certificates, changed.idp_entity_id), (None, False, ["c2", "c3"], "idp"))
                with self.assertRaises(exceptions.ConflictError):
                    client.create_saml_provider_config(provider_id="saml.work", **SAML)
                for each in ("saml.work", "saml.other"):
                    client.delete_saml_provider_config(each)
                self.assertEqual(list(client.list_saml_provider_configs().iterate_all()), [])
                for call in (client.get_saml_provider_config, client.delete_saml_provider_config):
                    with self.assertRaises(auth.ConfigurationNotFoundError):
                        call("saml.work")

    def test_every_function_for_openid_connect(self):
        for name, client in self.clients():
            with self.subTest(name):
                made = client.create_oidc_provider_config(
                    provider_id="oidc.work", display_name="Work", enabled=True, client_secret="s", code_response_type=True, id_token_response_type=False, **OIDC)
                self.assertEqual((made.client_secret, made.code_response_type, made.id_token_response_type), ("s", True, False))
                changed = client.update_oidc_provider_config("oidc.work", id_token_response_type=True, code_response_type=False, issuer="https://x.example")
                self.assertEqual((changed.code_response_type, changed.id_token_response_type, changed.issuer), (False, True, "https://x.example"))
                self.assertEqual(client.get_oidc_provider_config("oidc.work").client_id, "c")
                self.assertEqual([each.provider_id for each in client.list_oidc_provider_configs().iterate_all()], ["oidc.work"])
                client.delete_oidc_provider_config("oidc.work")
                with self.assertRaises(auth.ConfigurationNotFoundError):
                    client.get_oidc_provider_config("oidc.work")

    def refused_config(self, code, path, body, status=400):
        found, answer = self.request(f"/identitytoolkit.googleapis.com/v2/projects/{PROJECT}/{path}", body, headers={"authorization": "Bearer owner"})
        self.assertEqual((found, answer["error"]["message"].split(" : ")[0]), (status, code), answer)

    def test_configuration_that_the_sdks_refuse_is_refused_here(self):
        saml = {"idpConfig": {"idpEntityId": "i", "ssoUrl": "https://x.example", "idpCertificates": [{"x509Certificate": "c"}]},
                "spConfig": {"spEntityId": "s", "callbackUri": "https://y.example"}}
        path = "inboundSamlConfigs?inboundSamlConfigId=saml.x"
        self.refused_config("INVALID_CONFIG_ID", "inboundSamlConfigs?inboundSamlConfigId=oidc.x", saml)
        self.refused_config("INVALID_CONFIG_ID", "inboundSamlConfigs?inboundSamlConfigId=saml.", saml)
        for flaw in ({"idpConfig": None}, {"spConfig": None}, {"idpConfig": {**saml["idpConfig"], "ssoUrl": "here"}},
                     {"idpConfig": {**saml["idpConfig"], "idpCertificates": []}}, {"spConfig": {"spEntityId": "s", "callbackUri": "y"}}):
            self.refused_config("INVALID_CONFIG", path, {**saml, **flaw})
        oidc = {"clientId": "c", "issuer": "https://x.example"}
        path = "oauthIdpConfigs?oauthIdpConfigId=oidc.x"
        self.refused_config("INVALID_OAUTH_CLIENT_ID", path, {**oidc, "clientId": ""})
        for flaw in ({"issuer": "x"}, {"responseType": {"code": True}}, {"responseType": {"code": True, "idToken": True}, "clientSecret": "s"}):
            self.refused_config("INVALID_CONFIG", path, {**oidc, **flaw})
        self.refused_config("INVALID_CONFIG_ID", "defaultSupportedIdpConfigs?idpId=example.com", {"clientId": "c"})
        self.refused_config("INVALID_CONFIG", "defaultSupportedIdpConfigs?idpId=google.com", {})

    def test_known_providers_are_configured(self):
        path = f"v2/projects/{PROJECT}/defaultSupportedIdpConfigs"
        made = self.admin(path + "?idpId=google.com", {"clientId": "c", "clientSecret": "s", "enabled": True})
        self.assertEqual(made, {"name": f"projects/{PROJECT}/defaultSupportedIdpConfigs/google.com", "clientId": "c", "clientSecret": "s", "enabled": True})
        self.assertEqual(self.admin(path), {"defaultSupportedIdpConfigs": [made]})
        self.assertIn("google.com", [each["idpId"] for each in self.admin("v2/defaultSupportedIdps")["defaultSupportedIdps"]])
        idp = {"requestUri": "http://x", "postBody": 'providerId=google.com&id_token={"sub":"1"}'}
        self.client("accounts:signInWithIdp", **idp)
        changed = self.admin(path + "/google.com?updateMask=enabled", {"enabled": False, "clientId": "other"}, method="PATCH")
        self.assertEqual((changed["enabled"], changed["clientId"]), (False, "c"))
        self.assertEqual(self.admin(path + "/google.com"), changed)
        self.refused("OPERATION_NOT_ALLOWED", "accounts:signInWithIdp", **idp)
        self.refused_config("CONFIGURATION_EXISTS", "defaultSupportedIdpConfigs?idpId=google.com", {"clientId": "c"}, 409)
        self.assertEqual(self.admin(path + "/google.com", method="DELETE"), {})
        self.client("accounts:signInWithIdp", **idp)

    def test_saml_and_game_center_are_refused_with_reason(self):
        auth.create_saml_provider_config(provider_id="saml.work", enabled=True, app=self.app, **SAML)
        for call, body, words in (
                ("signInWithIdp", {"requestUri": "http://x", "postBody": "providerId=saml.work&SAMLResponse=PHNhbWw+"}, "SAML"),
                ("signInWithIdp", {"requestUri": "http://x", "postBody": "providerId=gc.apple.com&id_token={}"}, "Game Center"),
                ("signInWithGameCenter", {"playerId": "G:1", "publicKeyUrl": "https://static.gc.apple.com/x.cer", "signature": "x", "salt": "y", "timestamp": "1"},
                 "Game Center")):
            status, answer = self.request(f"/identitytoolkit.googleapis.com/v1/accounts:{call}?key=any", body)
            self.assertEqual((status, answer["error"]["message"].split(" : ")[0]), (400, "OPERATION_NOT_ALLOWED"))
            self.assertIn(words, answer["error"]["message"])


if __name__ == "__main__":
    unittest.main()
