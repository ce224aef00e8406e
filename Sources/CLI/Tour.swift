import ArgumentParser
import Identity
import JSON
import JSONRPC
import Mintmark

/// The steps of the demo: real requests over the same path as a pipe's, and their answers.
struct Tour {
    private let responder: Responder

    init(_ mintmark: Mintmark) { responder = mintmark.responder }

    func run() throws {
        try Printing.out(Printing.bold("Mintmark: an identity service in one process") + "\n")
        try say("A pool holds the identities of one application. \"login.shop\" stands for the sign-in that your own code does.")
        let pool = try call("pool.create", ["name": "shop", "developerProvider": "login.shop"])
        let poolId = pool["poolId"] ?? .null

        try say("A role is what credentials will stand for; its trust policy admits authenticated identities of this pool.")
        let role = try call("role.put", ["name": "shopper", "poolId": poolId])
        _ = try call("pool.setRoles", ["poolId": poolId, "roles": ["authenticated": role["roleArn"] ?? .null]])

        try say("Your code has authenticated alice. Mint a token for her.")
        let alice: JSONValue = ["poolId": poolId, "logins": ["login.shop": "alice"], "principalTags": ["plan": "gold"]]
        let minted = try call("token.mintForDeveloper", alice)
        let token = minted["token"] ?? .null

        try say("Any JWT library verifies it with these keys; so does Mintmark.")
        _ = try call("token.jwks", ["issuer": pool["issuer"] ?? .null])
        _ = try call("token.verify", ["token": token, "audience": poolId])

        try say("The token buys temporary credentials.")
        let exchange = try call("credentials.get", ["token": token])
        let credentials = exchange["credentials"] ?? [:]

        try say("A request signed with them (AWS Signature Version 4) is verified without a database row.")
        let request = try sign(credentials)
        let verified = try call("credentials.verify", ["request": request])

        try say("The same user is the same identity; another user is another one.")
        let again = try call("token.mintForDeveloper", ["poolId": poolId, "logins": ["login.shop": "alice"]])
        let bob = try call("token.mintForDeveloper", ["poolId": poolId, "logins": ["login.shop": "bob"]])

        try check(again["identityId"] == minted["identityId"], "alice kept her identity")
        try check(bob["identityId"] != minted["identityId"], "bob has one of his own")
        try check(verified["principal"]?["identityId"] == minted["identityId"], "the signed request is alice's")
        try Printing.out(
            "\nNext: \(Printing.bold("mintmark methods")), \(Printing.bold("mintmark describe token.mintForDeveloper")), README.md")
    }

    private func say(_ text: String) throws { try Printing.out("\n\(Printing.bold("•")) \(text)") }

    private func check(_ holds: Bool, _ what: String) throws {
        try Printing.out("\(holds ? Printing.green("✓") : Printing.red("✗")) \(what)")
        if !holds { throw ExitCode(1) }
    }

    private func call(_ method: String, _ params: JSONValue) throws -> JSONValue {
        let request: JSONValue = ["jsonrpc": "2.0", "id": 1, "method": .string(method), "params": params]
        try Printing.out(Printing.dim("→ ") + Printing.cyan(method) + " " + short(params).text)
        let answer = responder.answer(request.bytes).flatMap { try? JSONValue(parsing: $0) }
        guard let result = answer?["result"] else {
            try Printing.out(Printing.red("← \(answer?["error"]?.text ?? "no answer")"))
            throw ExitCode(1)
        }
        try Printing.out(Printing.dim("← ") + short(result).text)
        return result
    }

    /// The value with long texts cut, so that a line stays readable.
    private func short(_ value: JSONValue) -> JSONValue {
        switch value {
        case .string(let text) where text.count > 64: return .string(text.prefix(40) + "…" + text.suffix(8))
        case .array(let elements): return .array(elements.map(short))
        case .object(let object):
            var shortened = JSONObject()
            for (name, value) in object.members { shortened[name] = short(value) }
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
