import Foundation
import JSON
import Platform
import Testing

@testable import Contract

/// A call context for tests that call a method without a server.
private struct NoCall: CallContext {
    var trace: String? { nil }
    var isCancelled: Bool { false }
    var isPublicCaller: Bool { false }
    func progress(_ value: JSONValue) {}
}

/// The table of methods, their descriptions, and the execution of a bound method.
@Suite struct MethodTableTests {
    @Test("a bound method decodes the parameters, calls its handler and writes the result without absent members")
    func bound() throws {
        let method = BoundMethod(KeyRotate.info) { params, _, writer in
            let request = try KeyRotate.Params(decoding: params)
            SigningKey(
                kid: "k", algorithm: request.algorithm ?? .ES256, issuer: "i", poolId: "a:0", state: .next,
                createdAt: request.activateAfterSeconds
            ).write(to: &writer)
        }
        #expect(method.info.name == "key.rotate")
        var writer = JSONWriter()
        guard case .whole(let run) = method.run else {
            Issue.record("the method has no phases")
            return
        }
        try run(JSONText(#"{"poolId": "a:0", "algorithm": "EdDSA"}"#).root, NoCall(), &writer)
        #expect(
            String(decoding: writer.bytes, as: UTF8.self)
                == #"{"kid":"k","algorithm":"EdDSA","issuer":"i","poolId":"a:0","state":"next","createdAt":86400}"#)
        #expect(throws: InvalidParams.self) { try run(nil, NoCall(), &writer) }
    }

    @Test("maps and lists are written in order, and open objects are written unchanged")
    func containers() throws {
        var writer = JSONWriter()
        let claims = EncodedObject(try JSONText(#"{"n": 1.50, "sub":"a"}"#).root)
        TokenVerify.Result(claims: claims, header: EncodedObject(["alg": "ES256"]), use: .pool, issuer: "i", expiresAt: 7).write(
            to: &writer)
        #expect(
            String(decoding: writer.bytes, as: UTF8.self)
                == #"{"claims":{"n": 1.50, "sub":"a"},"header":{"alg":"ES256"},"use":"pool","issuer":"i","expiresAt":7}"#)
        var other = JSONWriter()
        Principal(identityId: "a:0", poolId: "b:0", roleArn: "r", sessionName: "s", accessKeyId: "k", tags: ["z": "1", "a": "\"2"]).write(
            to: &other)
        #expect(String(decoding: other.bytes, as: UTF8.self).hasSuffix(#""tags":{"z":"1","a":"\"2"}}"#))
    }

    @Test("public callers can call exactly these methods")
    func publicMethods() {
        #expect(
            MethodTable.all.filter { $0.caller == .public }.map(\.name)
                == [
                    "account.changeEmail", "account.changePassword", "account.createAgent", "account.deleteAgent", "account.deleteOwn",
                    "account.graph", "account.link", "account.listAgents", "account.me", "account.merge", "account.providerToken",
                    "account.reauthenticate", "account.setOwnPassword", "account.submitCode", "account.unlink", "account.updateOwn",
                    "credentials.assumeRole", "credentials.get", "identity.resolve", "identity.unlink", "idp.authorize",
                    "idp.authorizeDevice", "mfa.challenge", "mfa.confirm", "mfa.enroll", "mfa.list", "mfa.recoveryCodes", "mfa.resolve",
                    "mfa.withdraw", "oob.apply", "oob.inspect", "passkey.delete", "passkey.finishRegistration", "passkey.list",
                    "passkey.relatedOrigins", "passkey.rename", "passkey.signals", "passkey.startAuthentication",
                    "passkey.startRegistration", "passwordReset.challenge", "passwordReset.resendCode", "passwordReset.start",
                    "passwordReset.submitCode", "passwordReset.submitPassword", "rpc.discover", "session.list", "session.refresh",
                    "session.revoke", "session.revokeAll", "session.signOut", "signIn.anonymously", "signIn.challenge",
                    "signIn.resendCode", "signIn.start", "signIn.startWithPhoneNumber", "signIn.submitCode", "signIn.submitPassword",
                    "signIn.withContinuation", "signIn.withCredential", "signIn.withCustomToken", "signIn.withLink",
                    "signIn.withPassword", "signUp.challenge", "signUp.resendCode", "signUp.start", "signUp.submitAttributes",
                    "signUp.submitCode", "signUp.submitPassword", "system.ping", "token.delegate", "token.discovery", "token.exchange",
                    "token.jwks", "token.mint", "token.redeem", "token.verify",
                ])
    }

    @Test("the complete OpenRPC document equals schemas/openrpc.json, and a partial document contains the selected methods")
    func discovery() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        let committed = try JSONValue(parsing: [UInt8](Data(contentsOf: root.appending(path: "schemas/openrpc.json"))))
        #expect(try JSONValue(parsing: OpenRPCDocument.describing { _ in true }.bytes) == committed)
        let part = try JSONValue(parsing: OpenRPCDocument.describing { !$0.isTesting && $0.caller == .public }.bytes)
        #expect(
            part["methods"]?.array?.count == MethodTable.all.filter { !$0.isTesting && $0.caller == .public }.count
                && part["components"] == committed["components"])
        #expect(
            MethodTable.all.filter(\.isTesting).map(\.name) == [
                "test.clock", "test.enqueue", "test.fault", "test.http", "test.idp", "test.outbox", "test.reset", "test.restore",
                "test.seed", "test.snapshot", "test.token", "test.workloadToken",
            ])
    }

    static let typos: [(name: String, nearest: [String])] = [
        ("sytem.ping", ["system.ping"]), ("mintForDeveloper", ["token.mintForDeveloper"]), ("pool.creat", ["pool.create"]),
        ("POOL.GET", ["pool.get", "role.get", "pool.list"]), ("tokn.jwsk", ["token.jwks"]), ("xyzzy", []),
        (String(repeating: "a", count: 100_000), []),
    ]

    @Test("a mistyped method name yields at most three suggestions, the nearest first", arguments: typos)
    func nearest(name: String, nearest: [String]) {
        let found = NearestNames.of(name, among: MethodTable.all.map(\.name))
        #expect(found.first == nearest.first && found.count <= 3)
    }

    static let costs: [(method: String, params: String, cost: MethodCost)] = [
        ("pool.get", #"{"poolId": "a:0"}"#, .quick), ("pool.update", "{}", .store), ("signIn.start", "{}", .network),
        ("passkey.verify", #"{"response": {}}"#, .quick),
        ("account.create", #"{"username": "a"}"#, .store), ("account.create", #"{"password": "a"}"#, .slow),
        ("account.link", #"{"credential": {"password": "a"}}"#, .slow),
        ("account.link", #"{"credential": {"continuationToken": "a"}}"#, .network),
        ("account.link", #"{"credential": {"continuationToken": "a", "password": "a"}}"#, .slow),
        ("account.link", #"{"credential": "password"}"#, .store),
        ("pool.create", #"{"signingAlgorithm": "RS512"}"#, .slow), ("pool.create", #"{"signingAlgorithm": "EdDSA"}"#, .store),
        ("pool.create", #"{"signingAlgorithm": 1}"#, .store), ("pool.create", "[]", .store),
        ("system.apply", #"{"pools": [{}, {"signingAlgorithm": "RS256"}, {"signingAlgorithm": "ES256"}]}"#, .slow),
        ("system.apply", #"{"pools": [{"signingAlgorithm": "ES256"}]}"#, .store), ("system.apply", #"{"pools": {}}"#, .store),
    ]

    @Test("the cost of a call follows from the schema and the parameters", arguments: costs)
    func cost(method name: String, params: String, cost: MethodCost) throws {
        let method = try #require(MethodTable.all.first { $0.name == name })
        #expect(method.cost(of: try JSONText(params).root) == cost)
        #expect(method.cost(of: nil) == method.cost)
    }

    @Test("the description of a parameter contains its type, range and default")
    func describe() throws {
        let field = TokenMintForDeveloper.info.params.first { $0.name == "durationSeconds" }
        #expect(field?.type == "integer 1–86400" && field?.defaultValue == "900" && field?.isRequired == false)
        for method in MethodTable.all {
            let documented = try #require(try JSONValue(parsing: method.openRPC)["params"]?.array)
            #expect(Set(method.params.map(\.name)) == Set(documented.compactMap { $0["name"]?.string }), "\(method.name)")
            for field in method.params + method.result { #expect(!field.description.isEmpty, "\(method.name) \(field.name)") }
        }
    }
}
