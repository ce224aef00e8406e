import Contract
import IdentityPools
import JSON
import ServiceContext

/// AWS STS with the AWS Query protocol and XML responses. Like AWS, it returns JSON if the request accepts `application/json`.
struct STSProtocol {
    let service: AmazonServices
    let request: WireRequest
    let context: any CallContext
    let arrivedByHTTP: Bool
    let requestId: String

    private static let version = "2011-06-15"
    private static let namespace = "https://sts.amazonaws.com/doc/2011-06-15/"

    /// - Parameter action: The value of the `Action` parameter.
    func answer(action: String) throws -> WireAnswer {
        let result = try WireError.catching(internalCode: "InternalFailure", { WireError(sts: $0) }, { WireError(sts: $0) }) {
            if arrivedByHTTP { try service.meetFault(of: CompatHttp.self, context) }
            return try perform(action)
        }
        switch result {
        case .success(let elements):
            let response = XMLElement(
                "\(action)Response", namespace: Self.namespace,
                [XMLElement("\(action)Result", elements), XMLElement("ResponseMetadata", [XMLElement("RequestId", requestId)])])
            return request.acceptsJSON ? .json(response.json) : .xml(response)
        case .failure(let error):
            let response = XMLElement(
                "ErrorResponse", namespace: Self.namespace,
                [
                    XMLElement(
                        "Error",
                        [
                            XMLElement("Type", error.status < 500 ? "Sender" : "Receiver"), XMLElement("Code", error.code),
                            XMLElement("Message", error.message),
                        ]), XMLElement("RequestId", requestId),
                ])
            return request.acceptsJSON ? .json(response.members, status: error.status) : .xml(response, status: error.status)
        }
    }

    private func perform(_ action: String) throws -> [XMLElement] {
        let version = request.parameter("Version") ?? ""
        switch (action, version) {
        case ("AssumeRoleWithWebIdentity", Self.version): return try assumeRole()
        case ("GetCallerIdentity", Self.version): return try callerIdentity()
        case ("GetWebIdentityToken", Self.version): return try webIdentityToken()
        default: throw WireError("InvalidAction", "Could not find operation \(action) for version \(version)")
        }
    }

    // MARK: AssumeRoleWithWebIdentity

    private static let members: [WireMember] = [
        .required("RoleArn", .texts(20...2048, .some(Self.arnPattern, Self.isARNCharacter))),
        .required("RoleSessionName", .texts(2...64, .word(#"[\w+=,.@-]*"#, and: "+=,.@-", orNone: true))),
        .required("WebIdentityToken", .text(WireText(length: 4...20000, isSecret: true))),
        .optional("ProviderId", .texts(4...2048)),
        .optional(
            "Policy",
            .texts(
                1...2048,
                .some(#"[\u0009\u000A\u000D\u0020-\u00FF]+"#, orNone: true) {
                    "\u{20}"..."\u{FF}" ~= $0 || "\t\n\r".unicodeScalars.contains($0)
                })),
        .optional("DurationSeconds", .integer(900...43200)), .optional("MinimumSessionTokenSize", .integer(0...4096)),
    ]

    private static let arnPattern = #"[\u0009\u000A\u000D\u0020-\u007E\u0085\u00A0-\uD7FF\uE000-\uFFFD\u10000-\u10FFFF]+"#
    private static let isARNCharacter: @Sendable (Unicode.Scalar) -> Bool = { scalar in
        switch scalar {
        case "\t", "\n", "\r", "\u{20}"..."\u{7E}", "\u{85}", "\u{A0}"..."\u{FFFD}", "\u{10000}"...: true
        default: false
        }
    }

    private func assumeRole() throws -> [XMLElement] {
        let input = try WireValidator.members(try form(), of: Self.members, code: "ValidationError")
        if input["ProviderId"] != nil {
            throw WireError("ValidationError", "ProviderId is only for OAuth access tokens. Omit it for an OpenID token.")
        }
        if request.parameters.contains(where: { $0.name.hasPrefix("PolicyArns.") }) {
            throw WireError("ValidationError", "PolicyArns is not supported because there are no managed policies. Use Policy.")
        }
        var params: JSONObject = [
            "roleArn": input["RoleArn"]!, "sessionName": input["RoleSessionName"]!, "token": input["WebIdentityToken"]!,
        ]
        params["durationSeconds"] = input["DurationSeconds"]
        params["sourceIp"] = request.sourceIp.map { .string($0) }
        if let policy = input["Policy"]?.string {
            guard let policy = try? JSONValue(parsing: policy), policy.object != nil else {
                throw WireError("MalformedPolicyDocument", "The policy is not in the valid JSON format.")
            }
            params["policy"] = policy
        }
        try service.meetFault(of: CredentialsAssumeRole.self, context)
        let assumed = try service.credentials.assumeRole(
            CredentialsAssumeRole.Params(decoding: JSONText(JSONValue.object(params).text).root), context)
        let size = Int64(assumed.credentials.sessionToken.utf8.count)
        if let least = input["MinimumSessionTokenSize"]?.int, least > size {
            throw WireError("ValidationError", "MinimumSessionTokenSize is not supported.")
        }
        var answer = [
            XMLElement("SubjectFromWebIdentityToken", assumed.subject), XMLElement("Audience", assumed.audience),
            XMLElement(
                "AssumedRoleUser",
                [XMLElement("Arn", assumed.assumedRole.arn), XMLElement("AssumedRoleId", assumed.assumedRole.id)]),
            XMLElement(
                "Credentials",
                [
                    XMLElement("AccessKeyId", assumed.credentials.accessKeyId),
                    XMLElement("SecretAccessKey", assumed.credentials.secretAccessKey),
                    XMLElement("SessionToken", assumed.credentials.sessionToken),
                    XMLElement("Expiration", PolicyDate.text(assumed.credentials.expiresAt), number: assumed.credentials.expiresAt),
                ]), XMLElement("Provider", assumed.provider),
        ]
        if let identity = assumed.sourceIdentity { answer.append(XMLElement("SourceIdentity", identity)) }
        if let percent = assumed.packedPolicyPercent { answer.append(XMLElement("PackedPolicySize", String(percent), number: percent)) }
        return answer
    }

    /// Returns the parameters as the members of a request.
    private func form() throws -> JSONObject {
        var input = JSONObject()
        for (name, value) in request.parameters {
            if name == "DurationSeconds" || name == "MinimumSessionTokenSize" {
                guard let number = Int64(value) else { throw WireError("MalformedInput", "\(name) is not a number.") }
                input[name] = .number(JSONNumber(number))
            } else {
                input[name] = .string(value)
            }
        }
        return input
    }

    // MARK: GetCallerIdentity

    /// Returns the caller: the holder of credentials that were issued here, after verification of the signature. Any other caller is the
    /// account.
    private func callerIdentity() throws -> [XMLElement] {
        let realm = service.context.realm
        let id: String
        let arn: String
        if let holder = try session()?.principal {
            let role = try service.role.get(RoleGet.Params(role: .roleArn(holder.roleArn)), context)
            let signature = CallerSignature(service: service, request: request, context: context)
            (id, arn) = ("\(role.roleId):\(holder.sessionName)", signature.arn(of: holder))
        } else {
            (id, arn) = (realm.account, "arn:\(realm.partition):iam::\(realm.account):root")
        }
        return [XMLElement("Arn", arn), XMLElement("UserId", id), XMLElement("Account", realm.account)]
    }

    /// Returns the session of the credentials that have signed the request, or `nil` if they were not issued here.
    ///
    /// - Throws: `WireError` if the signature is missing or malformed, and the errors of `credentials.verify`.
    func session() throws -> CredentialsVerify.Result? {
        let claim: SignatureClaim
        do {
            claim = try CallerSignature(service: service, request: request, context: context).claim(for: "sts")
        } catch let error as WireError {
            throw WireError(error.code.replacingSuffix("Exception"), error.message, status: 403)
        }
        guard claim.accessKeyId.hasPrefix("ASIA") || request.header("x-amz-security-token") != nil else { return nil }
        let signed = SignedRequest(
            method: request.method, url: request.url, headers: Members(request.headers.map { ($0.name, $0.value) }),
            bodySha256: request.bodySha256)
        try service.meetFault(of: CredentialsVerify.self, context)
        return try service.credentials.verify(CredentialsVerify.Params(proof: .request(signed), service: "sts"), context)
    }
}

extension String {
    /// Returns the text without `suffix` if it ends with it, otherwise unchanged.
    fileprivate func replacingSuffix(_ suffix: String) -> String { hasSuffix(suffix) ? String(dropLast(suffix.count)) : self }
}
