import Arguments
import Glibc
import IdentityPools
import JSON
import JSONRPC
import Mintmark

/// The steps of the demo: real requests, processed like those from a pipe, and their responses.
struct DemoScript {
    private let responder: Responder

    init(_ mintmark: Mintmark) { responder = mintmark.responder }

    func run() throws {
        try Printing.out(Printing.bold("Mintmark: an identity service in one process") + "\n")
        let idToken = try signUp()

        try say("A pool holds the identities of one application. It accepts ID tokens of the tenant and users of your own backend.")
        let settings: JSONValue = ["name": "shop", "developerProvider": "login.shop", "providers": [["tenantId": "default"]]]
        let pool = try call("pool.create", settings)
        let poolId = pool["poolId"] ?? .null

        try say("A role is assumed with the credentials; its trust policy admits authenticated identities of this pool.")
        let role = try call("role.put", ["name": "shopper", "poolId": poolId])
        _ = try call("pool.setRoles", ["poolId": poolId, "roles": ["authenticated": role["roleArn"] ?? .null]])

        try say("Any JWT library can verify Alice's ID token with these keys; so can Mintmark.")
        let provider = pool["providers"]?.array?.first ?? [:]
        _ = try call("token.jwks", ["issuer": provider["issuer"] ?? .null])
        _ = try call("token.verify", ["token": idToken, "tenantId": "default"])

        try say("With it, she gets an identity in the pool and temporary credentials.")
        var login = JSONObject()
        login[provider["name"]?.string ?? ""] = idToken
        let alice = try call("identity.resolve", ["poolId": poolId, "logins": .object(login)])["identityId"] ?? .null
        let exchange = try call("credentials.get", ["identityId": alice, "logins": .object(login)])
        let credentials = exchange["credentials"] ?? [:]

        try say("A request signed with them (AWS Signature Version 4) is verified without a database query.")
        let request = try sign(credentials)
        let verified = try call("credentials.verify", ["request": request])

        try say("The same user always gets the same identity; another user gets another one.")
        let again = try call("identity.resolve", ["poolId": poolId, "logins": .object(login)])
        let bob = try call("token.mintForDeveloper", ["poolId": poolId, "logins": ["login.shop": "bob"]])

        try check(again["identityId"] == alice, "alice kept her identity")
        try check(bob["identityId"] != alice, "bob has a different identity")
        try check(verified["principal"]?["identityId"] == alice, "the signed request is alice's")
        try Printing.out(
            "\nNext: \(Printing.bold("mintmark methods")), \(Printing.bold("mintmark describe token.mintForDeveloper")), README.md")
    }

    /// Signs up Alice with an emailed code, after one wrong attempt, and signs her in.
    ///
    /// - Returns: Her ID token.
    private func signUp() throws -> JSONValue {
        try say("Alice signs up with her email address. A one-time code is sent there.")
        let started = try call("signUp.start", ["username": "alice@example.com"])
        let continuation = started["continuationToken"] ?? .null

        try say("This is a testing store: it captures the email, which can be read.")
        let messages = try call("test.outbox", ["to": "alice@example.com"])["messages"]?.array ?? []
        let code = messages.first?["code"]?.string ?? ""

        try say("She enters a wrong code: the error states the attempts left, and the continuation token stays valid.")
        let mistyped = String(code.dropLast()) + (code.hasSuffix("0") ? "1" : "0")
        let refused = try refusal("signUp.submitCode", ["continuationToken": continuation, "code": .string(mistyped)])
        try check(refused["data"]?["type"]?.string == "invalidCode", "a wrong code is detected and counted")

        try say("The correct code creates the account, and the continuation token of the completed sign-up signs her in.")
        let completed = try call("signUp.submitCode", ["continuationToken": continuation, "code": .string(code)])
        let signedIn = try call("signIn.withContinuation", ["continuationToken": completed["continuationToken"] ?? .null])
        try check(signedIn["account"]?["accountId"] == completed["accountId"], "alice has an account and is signed in")
        return signedIn["idToken"] ?? .null
    }

    private func say(_ text: String) throws {
        if isatty(1) == 1 { usleep(Self.pause) }
        try Printing.out("\n\(Printing.bold("•")) \(text)")
    }

    /// The pause before each step on a terminal, in microseconds, so that the user can read it.
    private static let pause: UInt32 = 700_000

    private func check(_ holds: Bool, _ what: String) throws {
        try Printing.out("\(holds ? Printing.green("✓") : Printing.red("✗")) \(what)")
        if !holds { throw ExitCode(1) }
    }

    /// Returns the result of a request that must succeed.
    private func call(_ method: String, _ params: JSONValue) throws -> JSONValue {
        let answer = try ask(method, params)
        guard let result = answer["result"] else {
            try Printing.out(Printing.red("← \(answer["error"]?.text ?? "no answer")"))
            throw ExitCode(1)
        }
        try Printing.out(Printing.dim("← ") + short(result).text)
        return result
    }

    /// Returns the error of a request that must fail.
    private func refusal(_ method: String, _ params: JSONValue) throws -> JSONValue {
        let error = try ask(method, params)["error"] ?? [:]
        try Printing.out(Printing.dim("← ") + short(error).text)
        return error
    }

    private func ask(_ method: String, _ params: JSONValue) throws -> JSONValue {
        let request: JSONValue = ["jsonrpc": "2.0", "id": 1, "method": .string(method), "params": params]
        try Printing.out(Printing.dim("→ ") + Printing.cyan(method) + " " + short(params).text)
        return responder.answer(request.bytes).flatMap { try? JSONValue(parsing: $0) } ?? [:]
    }

    /// Truncates long tokens and keys, so that a line stays readable. Messages are not truncated.
    private func short(_ value: JSONValue) -> JSONValue {
        switch value {
        case .string(let text) where text.count > 64 && !text.contains(" "): return .string(text.prefix(40) + "…" + text.suffix(8))
        case .array(let elements): return .array(elements.map(short))
        case .object(let object):
            var shortened = JSONObject()
            for (name, value) in object.members { shortened[name] = name == "html" ? "…" : short(value) }
            return .object(shortened)
        default: return value
        }
    }

    private func sign(_ credentials: JSONValue) throws -> JSONValue {
        guard let id = credentials["accessKeyId"]?.string, let secret = credentials["secretAccessKey"]?.string,
            let token = credentials["sessionToken"]?.string
        else { throw ExitCode(1) }
        let signed = ExampleSigner.get("https://api.example.com/orders?limit=10", accessKeyId: id, secret: secret, sessionToken: token)
        return [
            "method": "GET", "url": .string(signed.url),
            "headers": .object(signed.headers.reduce(into: [:]) { $0[$1.name] = .string($1.value) }),
        ]
    }
}
