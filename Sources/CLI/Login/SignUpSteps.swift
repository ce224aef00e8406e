import Arguments
import JSON

/// Guides the user at a terminal through a sign-up and the sign-in after it. Text for the user goes to standard error.
struct SignUpSteps {
    let signIn: SignInSteps
    /// The attributes from the command line.
    let attributes: JSONObject

    /// - Returns: The response with the tokens.
    func run(_ address: String) throws -> JSONValue {
        let calls = signIn.calls
        var params: JSONObject = ["tenantId": .string(signIn.tenant), "username": .string(address)]
        if !attributes.isEmpty { params["attributes"] = .object(attributes) }
        var step = try calls.result("signUp.start", .object(params))
        while true {
            switch step["state"]?.string {
            case "codeRequired":
                step = try signIn.asking("Code sent to \(step["sentTo"]?.string ?? address): ") { code in
                    try calls.ask("signUp.submitCode", ["continuationToken": signIn.token(of: step), "code": .string(code)])
                }
            case "passwordRequired":
                step = try signIn.asking("New password: ", isHidden: true) { password in
                    guard Terminal.ask("The same password again: ", isHidden: true) == password else { throw Different() }
                    return try calls.ask(
                        "signUp.submitPassword", ["continuationToken": signIn.token(of: step), "password": .string(password)])
                }
            case "attributesRequired": step = try submitAttributes(step)
            case "completed":
                return try signIn.finished(
                    calls.result("signIn.withContinuation", ["continuationToken": signIn.token(of: step)]))
            default:
                Printing.err(
                    "\(Printing.errorWord) The next state of this sign-up is \(step["state"]?.string ?? "missing"), "
                        + "which this program does not support."
                )
                throw ExitCode(1)
            }
        }
    }

    /// Thrown if the two passwords differ.
    struct Different: Error {}

    private func submitAttributes(_ step: JSONValue) throws -> JSONValue {
        var values = attributes
        let demanded = step["attributes"]?.array ?? []
        func ask(_ wanted: JSONValue) throws {
            let name = wanted["name"]?.string ?? ""
            let options = (wanted["options"]?.array ?? []).compactMap { $0["value"]?.string ?? $0.string }
            let words = "\(wanted["label"]?.string ?? name)\(options.isEmpty ? "" : " (\(options.joined(separator: ", ")))"): "
            guard let typed = Terminal.ask(words, isHidden: false) else {
                Printing.err("\(Printing.errorWord) Nothing was typed.")
                throw ExitCode(1)
            }
            values[name] = Self.value(typed, of: wanted["type"]?.string ?? "string")
        }
        for wanted in demanded where wanted["required"]?.bool == true && values[wanted["name"]?.string ?? ""] == nil { try ask(wanted) }
        while true {
            do {
                return try signIn.calls.ask(
                    "signUp.submitAttributes", ["continuationToken": signIn.token(of: step), "attributes": .object(values)])
            } catch let refused as Calls.Refused {
                let failures = refused.error["data"]?["attributes"]?.array ?? []
                let names = failures.compactMap { $0["name"]?.string }
                let wrong = demanded.filter { names.contains($0["name"]?.string ?? "") }
                guard refused.type == "invalidAttributes", !wrong.isEmpty else { throw refused.failure() }
                for failure in failures { Printing.err("\(failure["name"]?.string ?? ""): \(failure["message"]?.string ?? "")") }
                for wanted in wrong { try ask(wanted) }
            }
        }
    }

    private static func value(_ text: String, of type: String) -> JSONValue {
        switch type {
        case "integer": Int64(text).map { .number(JSONNumber($0)) } ?? .string(text)
        case "boolean": ["yes": true, "true": true, "no": false, "false": false][text.lowercased()].map { .bool($0) } ?? .string(text)
        default: .string(text)
        }
    }
}
