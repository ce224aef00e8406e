import JSON
import Testing

@testable import Provisioning

@Suite("users in the format of firebase auth:export")
struct FirebaseUserTests {
    private func portable(_ json: String) throws -> JSONValue { .object(FirebaseUser(try JSONText(json).root).portable) }

    @Test("empty values are omitted, and times are converted to seconds")
    func plain() throws {
        #expect(
            try portable(
                #"{"localId": "a", "email": "", "displayName": "", "passwordHash": "", "createdAt": "1500000000999", "lastSignedInAt": 7, "providerUserInfo": []}"#
            )
                == ["accountId": "a", "createdAt": 1_500_000_000, "lastSignInAt": 0])
    }

    @Test("claims, providers and factors are converted")
    func rich() throws {
        #expect(
            try portable(
                #"{"localId": "a", "customAttributes": "{\"plan\":1}", "phoneNumber": "+49", "photoUrl": "p", "providerUserInfo": [{"providerId": "google.com", "rawId": "1", "email": ""}, {"providerId": "phone", "phoneNumber": "+49"}], "mfaInfo": [{"phoneInfo": "+50", "displayName": "P"}, {"totpInfo": {}}]}"#
            )
                == [
                    "accountId": "a", "phoneNumber": "+49", "attributes": ["picture": "p", "phoneNumber": "+49"], "claims": ["plan": 1],
                    "providers": [["providerId": "google.com", "subject": "1"], ["providerId": "phone", "subject": "+49"]],
                    "factors": [["kind": "sms", "phoneNumber": "+50", "displayName": "P"], ["kind": "totp"]],
                ])
    }

    @Test("malformed values are kept, so that the import check reports them")
    func odd() throws {
        #expect(
            try portable(#"{"createdAt": "soon", "customAttributes": "{", "providerUserInfo": 7}"#)
                == ["createdAt": "soon", "claims": "{"])
    }
}
