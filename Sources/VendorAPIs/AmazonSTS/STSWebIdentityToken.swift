import Contract
import IdentityPools
import JSON
import ServiceContext

/// `GetWebIdentityToken` of AWS STS: a session of credentials that were issued here gets a token for other services.
extension STSProtocol {
    private static let members: [WireMember] = [
        .required("Audience", .list(of: .texts(1...1000), 1...10)),
        .required("SigningAlgorithm", .oneOf(["RS256", "ES384"])),
        .optional("DurationSeconds", .integer(60...3600)),
        .optional(
            "Tags",
            .list(of: .structure([.required("Key", .texts(1...128)), .required("Value", .texts(0...256))]), 0...50)),
    ]

    func webIdentityToken() throws -> [XMLElement] {
        guard let session = try session() else {
            throw refusal(of: "arn:\(service.context.realm.partition):iam::\(service.context.realm.account):root")
        }
        guard SessionPolicyAction.allows("sts:getwebidentitytoken", session.sessionPolicy) else {
            throw refusal(of: CallerSignature(service: service, request: request, context: context).arn(of: session.principal))
        }
        let input = try WireValidator.members(try tokenForm(), of: Self.members, code: "ValidationError")
        var tags: [(String, String)] = []
        for tag in input["Tags"]?.array ?? [] { tags.append((tag["Key"]?.string ?? "", tag["Value"]?.string ?? "")) }
        guard Set(tags.map { $0.0.lowercased() }).count == tags.count else {
            throw WireError("ValidationError", "Duplicate tag keys found. Please note that Tag keys are case insensitive.")
        }
        try service.meetFault(of: TokenMintForSession.self, context)
        let (token, expiresAt) = try service.outbound.mint(
            .init(
                audience: (input["Audience"]?.array ?? []).compactMap(\.string), algorithm: input["SigningAlgorithm"]?.string ?? "",
                durationSeconds: input["DurationSeconds"]?.int ?? 300, tags: Members(tags)), for: session,
            by: TokenMintForSession.info.name, context)
        return [XMLElement("WebIdentityToken", token), XMLElement("Expiration", PolicyDate.text(expiresAt), number: expiresAt)]
    }

    private func refusal(of caller: String) -> WireError {
        WireError(
            "AccessDenied",
            "User: \(caller) is not authorized to perform: sts:GetWebIdentityToken. Use the credentials of a role, without a session policy "
                + "that excludes this action.", status: 403)
    }

    /// Returns the parameters as the members of a request.
    private func tokenForm() throws -> JSONObject {
        var input = JSONObject()
        var audience: [(Int, JSONValue)] = []
        var tags: [Int: JSONObject] = [:]
        for (name, value) in request.parameters {
            let parts = name.split(separator: ".", omittingEmptySubsequences: false)
            switch (parts.first, parts.count) {
            case ("Audience", 3) where parts[1] == "member":
                if let place = Int(parts[2]) { audience.append((place, .string(value))) }
            case ("Tags", 4) where parts[1] == "member":
                if let place = Int(parts[2]) { tags[place, default: [:]][String(parts[3])] = .string(value) }
            case ("DurationSeconds", 1):
                guard let number = Int64(value) else { throw WireError("MalformedInput", "\(name) is not a number.") }
                input[name] = .number(JSONNumber(number))
            case ("SigningAlgorithm", 1): input[name] = .string(value)
            default: break
            }
        }
        if !audience.isEmpty { input["Audience"] = .array(audience.sorted { $0.0 < $1.0 }.map(\.1)) }
        if !tags.isEmpty { input["Tags"] = .array(tags.sorted { $0.key < $1.key }.map { .object($0.value) }) }
        return input
    }
}
