import JSON
import JSONRPC
import Platform

/// The prompts: tasks that a user starts in the host.
struct ModelContextPrompts {
    let names: ToolNames

    private struct Prompt {
        let name: String
        let title: String
        let description: String
        let argument: String
        let argumentDescription: String
        /// The task. `{}` stands for the argument as a JSON string.
        let text: String
    }

    private static let all = [
        Prompt(
            name: "sign_up_test_user", title: "Sign up a test user", description: "Creates an account by the steps that a user takes.",
            argument: "email", argumentDescription: "The email address of the test user.",
            text: """
                Sign up a test user with the email address {} in the tenant "default".
                1. Call `signUp.start` with this address as username.
                2. Read the code that was sent with `test.outbox` and the address in `to`. Only testing stores have it; in another store, \
                ask me for the code.
                3. Call `signUp.submitCode`, and the further steps that the answers name, with the latest continuationToken.
                4. Call `signIn.withContinuation` when the state is completed.
                Report the accountId and the email address. Do not print tokens.
                """),
        Prompt(
            name: "explain_token", title: "Explain a token",
            description: "Explain the content and the signer of a token, and whether it is valid.",
            argument: "token", argumentDescription: "The token, in the form header.payload.signature.",
            text: """
                Explain this token: {}
                Decode its header and payload (Base64url JSON) yourself. Then verify it with `token.verify`, with the value of aud as \
                audience. If that tool is not offered, compare kid with the keys of `token.jwks`, and say that the signature was not \
                verified.
                List the issuer, the subject, the audience, the times as dates, and every other claim with its meaning. If the token is \
                refused, say why and what to do. Do not repeat the signature.
                """),
        Prompt(
            name: "why_cannot_sign_in", title: "Why can a user not sign in?", description: "Finds the reason for which a sign-in fails.",
            argument: "email", argumentDescription: "The email address of the user.",
            text: """
                The user with the email address {} cannot sign in. Find out why, without changing anything.
                1. Call `tenant.list`, and `account.find` with the address in each tenant.
                2. If there is an account: is it disabled, must the password be changed, is the address verified? Look at its sign-in \
                methods and factors with `account.graph`, and at its sessions with `session.list`.
                3. Compare with the settings of the tenant: `tenant.get`, `idp.list`.
                4. Look for recent changes of the account and the tenant with `audit.list`.
                Name the reason, what supports it, and the tool that would solve it. Ask me before you change anything.
                """),
        Prompt(
            name: "set_up_pool", title: "Set up an identity pool", description: "Creates an identity pool with a role for signed-in users.",
            argument: "name", argumentDescription: "The name of the pool.",
            text: """
                Set up an identity pool with the name {}.
                1. Call `pool.list`: if the pool exists, show it and ask me whether to continue.
                2. Ask me which login providers it accepts, and whether guests are allowed.
                3. Call `pool.create`, then `role.put` with a trust policy for the new poolId, then `pool.setRoles`.
                4. Show the result of `pool.get` and `pool.getRoles`.
                """),
        Prompt(
            name: "review_audit", title: "Review the audit log",
            description: "Summarizes the changes since a time and points out unusual ones.",
            argument: "since", argumentDescription: "The start of the period: a date such as 2026-11-01, or seconds since 1970-01-01 UTC.",
            text: """
                Review the audit log since {}.
                1. Convert the time to seconds since 1970-01-01 UTC. Call `audit.list` with it as since, and follow nextCursor to the end.
                2. Call `audit.verify`.
                Summarize the changes by method and by account. Point out deletions, revocations, merges, changes of roles and keys, and \
                many changes in a short time. State whether the log is intact.
                """),
    ]

    static var list: JSONValue {
        .array(
            all.map { prompt in
                [
                    "name": .string(prompt.name), "title": .string(prompt.title), "description": .string(prompt.description),
                    "arguments": [
                        ["name": .string(prompt.argument), "description": .string(prompt.argumentDescription), "required": true]
                    ],
                ]
            })
    }

    /// Returns the members of the result of `prompts/get`.
    func get(_ params: JSONNode?) throws -> JSONObject {
        guard let name = params?["name"]?.string else {
            throw MalformedToolCall(pointer: "/name", reason: "prompts/get requires the name of a prompt.")
        }
        guard let prompt = Self.all.first(where: { $0.name == name }) else {
            let known = Self.all.map(\.name).joined(separator: ", ")
            throw MalformedToolCall(
                pointer: "/name", reason: "Unknown prompt \(String(name.unicodeScalars.prefix(128))). The prompts are \(known)."
            )
        }
        guard let argument = params?["arguments"]?[prompt.argument]?.string, !argument.isEmpty, argument.utf8.count <= 16384 else {
            throw MalformedToolCall(
                pointer: "/arguments/\(prompt.argument)",
                reason: "The prompt \(name) requires the argument \(prompt.argument), a string of at most 16384 bytes.")
        }
        let parts = prompt.text.pieces(separatedBy: "{}", maxSplits: 1).map(String.init)
        let missing = names.missing(in: prompt.text)
        let text = names.text(parts[0]) + JSONValue.string(argument).text + names.text(parts[1]) + missing
        return [
            "description": .string(prompt.description),
            "messages": [["role": "user", "content": ["type": "text", "text": .string(text)]]],
        ]
    }
}
