import Contract
import IdentityPools
import JSON
import ServiceContext

/// AWS IAM with the AWS Query protocol and XML responses: the operations that set-up scripts call before they use AWS STS.
struct IAMProtocol {
    typealias Operation = @Sendable (IAMProtocol) throws -> [XMLElement]?

    let service: AmazonServices
    let request: WireRequest
    let context: any CallContext
    let arrivedByHTTP: Bool
    let requestId: String

    static let version = "2010-05-08"
    private static let namespace = "https://iam.amazonaws.com/doc/2010-05-08/"

    /// - Parameter action: The value of the `Action` parameter.
    func answer(action: String) throws -> WireAnswer {
        let result = try WireError.catching(internalCode: "ServiceFailure", { WireError(iam: $0) }, { WireError(iam: $0) }) {
            if arrivedByHTTP { try service.meetFault(of: CompatHttp.self, context) }
            return try perform(action)
        }
        let metadata = XMLElement("ResponseMetadata", [XMLElement("RequestId", requestId)])
        switch result {
        case .success(let elements):
            let result = elements.map { [XMLElement("\(action)Result", $0)] } ?? []
            return .xml(XMLElement("\(action)Response", namespace: Self.namespace, result + [metadata]))
        case .failure(let error):
            let details = [
                XMLElement("Type", error.status < 500 ? "Sender" : "Receiver"), XMLElement("Code", error.code),
                XMLElement("Message", error.message),
            ]
            return .xml(
                XMLElement(
                    "ErrorResponse", namespace: Self.namespace, [XMLElement("Error", details), XMLElement("RequestId", requestId)]),
                status: error.status)
        }
    }

    /// The operations by name. An operation without a result returns `nil`.
    private static let operations: [String: Operation] = providerOperations.merging(roleOperations) { $1 }.merging(policyOperations) { $1 }
        .merging(outboundOperations) { $1 }

    private func perform(_ action: String) throws -> [XMLElement]? {
        guard request.parameter("Version") == Self.version, let operation = Self.operations[action] else {
            let known = Self.operations.keys.sorted().joined(separator: ", ")
            throw WireError("InvalidAction", "The action \(action) is not valid for this web service. Available are \(known).")
        }
        do {
            try CallerSignature(service: service, request: request, context: context).demand(for: "iam", operation: action)
        } catch let error as WireError {
            // The Query protocol has the same errors without this suffix.
            let suffix = "Exception"
            let code = error.code.hasSuffix(suffix) ? String(error.code.dropLast(suffix.count)) : error.code
            throw WireError(code, error.message, status: 403)
        }
        return try operation(self)
    }

    // MARK: Parameters

    /// - Throws: `WireError` if the parameter is missing or its length is not in `range`.
    func required(_ name: String, _ range: ClosedRange<Int> = 1...2048) throws -> String {
        guard let value = try optional(name, range) else {
            throw WireError(
                "ValidationError",
                "1 validation error detected: Value null at '\(lowered(name))' failed to satisfy constraint: Member must not be null")
        }
        return value
    }

    func optional(_ name: String, _ range: ClosedRange<Int> = 1...2048) throws -> String? {
        guard let value = request.parameter(name) else { return nil }
        if let breach = WireText(length: range).breaches(of: value).first { throw invalid(name, value, breach) }
        return value
    }

    func integer(_ name: String, _ range: ClosedRange<Int64>) throws -> Int64? {
        guard let text = request.parameter(name) else { return nil }
        guard let value = Int64(text), range.contains(value) else {
            throw invalid(name, text, "Member must have a value between \(range.lowerBound) and \(range.upperBound)")
        }
        return value
    }

    private func invalid(_ name: String, _ value: String, _ breach: String) -> WireError {
        WireError(
            "ValidationError",
            "1 validation error detected: Value '\(value.prefix(100))' at '\(lowered(name))' failed to satisfy constraint: \(breach)")
    }

    private func lowered(_ name: String) -> String { name.prefix(1).lowercased() + name.dropFirst() }

    /// Returns the elements of a list, in the order of their numbers: `NAME.member.1` and so on.
    func list(_ name: String) -> [String] {
        let prefix = "\(name).member."
        return request.parameters.compactMap { parameter -> (Int, String)? in
            guard parameter.name.hasPrefix(prefix), let number = Int(parameter.name.dropFirst(prefix.count)) else { return nil }
            return (number, parameter.value)
        }.sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// Returns the tags of the request, or `nil` if it has none.
    func tags() throws -> Members<String>? {
        let prefix = "Tags.member."
        var found: [(Int, String, String)] = []
        for parameter in request.parameters where parameter.name.hasPrefix(prefix) && parameter.name.hasSuffix(".Key") {
            let number = parameter.name.dropFirst(prefix.count).dropLast(4)
            found.append((Int(number) ?? 0, parameter.value, request.parameter("\(prefix)\(number).Value") ?? ""))
        }
        guard !found.isEmpty else { return nil }
        guard Set(found.map { $0.1.lowercased() }).count == found.count else {
            throw WireError("InvalidInput", "Duplicate tag keys found. Please note that Tag keys are case insensitive.")
        }
        return Members(found.sorted { $0.0 < $1.0 }.map { ($0.1, $0.2) })
    }

    /// - Throws: `WireError` if there are too many tags; `InvalidParams` if characters are not allowed.
    static func checked(_ tags: Members<String>) throws -> Members<String> {
        guard tags.count <= 50 else { throw WireError("LimitExceeded", "The number of tags has reached the maximum limit.", status: 409) }
        let violations = ResourceTags.violations(tags, at: "/Tags")
        if !violations.isEmpty { throw InvalidParams(violations: violations) }
        return tags
    }

    // MARK: Results

    static func tags(_ tags: Members<String>) -> XMLElement {
        XMLElement("Tags", tags.map { XMLElement("member", [XMLElement("Key", $0.name), XMLElement("Value", $0.value)]) })
    }

    static func list(_ name: String, _ values: [String]) -> XMLElement { XMLElement(name, values.map { XMLElement("member", $0) }) }

    static let complete = XMLElement("IsTruncated", "false")
}

extension Members where Value == String {
    /// Returns the tags with others added or replaced.
    func adding(_ others: Members<String>) -> Members<String> {
        Members(filter { tag in !others.contains { $0.name == tag.name } }.map { ($0.name, $0.value) } + others.map { ($0.name, $0.value) })
    }

    func removing(_ names: [String]) -> Members<String> { Members(filter { !names.contains($0.name) }.map { ($0.name, $0.value) }) }
}

extension WireRequest {
    /// Whether a request of the AWS Query protocol is for AWS IAM: by its version, or by the scope of its signature.
    var isForIAM: Bool {
        guard let version = parameter("Version") else { return header("authorization")?.includes("/iam/aws4_request") ?? false }
        return version == IAMProtocol.version
    }
}
