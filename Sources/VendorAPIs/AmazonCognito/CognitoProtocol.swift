import Contract
import IdentityPools
import JSON
import ServiceContext

/// Amazon Cognito identity pools with the AWS JSON 1.1 protocol.
struct CognitoProtocol {
    let service: AmazonServices
    let request: WireRequest
    let context: any CallContext
    let arrivedByHTTP: Bool

    /// The operations by name.
    private static let operations: [String: CognitoOperation] = {
        let all =
            CognitoOperation.pools + CognitoOperation.poolRecords + CognitoOperation.tags + CognitoOperation.identities
            + CognitoOperation.logins
        return Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
    }()

    /// - Parameter target: The value of the `X-Amz-Target` header.
    func answer(target: String) throws -> WireAnswer {
        let result = try WireError.catching(
            internalCode: "InternalErrorException", { WireError(cognito: $0) }, { WireError(cognito: $0) }
        ) {
            if arrivedByHTTP { try service.meetFault(of: CompatHttp.self, context) }
            return try perform(target)
        }
        switch result {
        case .success(let object): return .json(object)
        case .failure(let error): return .json(error)
        }
    }

    private func perform(_ target: String) throws -> JSONObject? {
        let prefix = "AWSCognitoIdentityService."
        guard target.hasPrefix(prefix), let operation = Self.operations[String(target.dropFirst(prefix.count))] else {
            throw WireError("UnknownOperationException", "Unknown operation \(String(target.unicodeScalars.prefix(128))).")
        }
        let body: JSONValue
        do { body = try JSONValue(parsing: request.body.isEmpty ? "{}" : request.body) } catch {
            throw WireError("SerializationException", "The body is not JSON: \(error.reason.rawValue).")
        }
        guard let input = body.object else { throw WireError("SerializationException", "The body is not a JSON object.") }
        let members = try WireValidator.members(input, of: operation.input)
        if !operation.isPublic {
            try CallerSignature(service: service, request: request, context: context).demand(
                for: "cognito-identity", operation: operation.name)
        }
        return try operation.perform(CognitoCall(service: service, input: members, context: context))
    }
}

/// An operation of the service: the shape of its input, and its translation to a method call.
struct CognitoOperation: Sendable {
    let name: String
    /// Whether the operation requires no signature.
    let isPublic: Bool
    let input: [WireMember]
    /// Performs the operation. Returns `nil` for a response without a body.
    let perform: @Sendable (CognitoCall) throws -> JSONObject?

    init(
        _ name: String, isPublic: Bool = false, _ input: [WireMember], _ perform: @escaping @Sendable (CognitoCall) throws -> JSONObject?
    ) {
        self.name = name
        self.isPublic = isPublic
        self.input = input
        self.perform = perform
    }
}

/// One request to the service, with validated members.
struct CognitoCall {
    let service: AmazonServices
    let input: JSONObject
    let context: any CallContext

    var realm: Deployment { service.context.realm }

    func text(_ name: String) -> String? { input[name]?.string }

    /// Calls a method.
    ///
    /// - Parameters:
    ///   - names: The members of the operation that are passed unchanged, with the method's parameter names.
    ///   - others: The other parameters of the method.
    func run<M: ContractMethod>(
        _: M.Type, _ names: KeyValuePairs<String, String>, adding others: JSONObject = [:],
        _ handler: (M.Params, any CallContext) throws -> M.Result
    ) throws -> M.Result {
        var params = others
        for (theirs, ours) in names { if let value = input[theirs] { params[ours] = value } }
        try service.meetFault(of: M.self, context)
        return try handler(M.Params(decoding: JSONText(JSONValue.object(params).text).root), context)
    }

    /// Returns the pool that `IdentityPoolId` identifies.
    func pool() throws -> Pool { try run(PoolGet.self, ["IdentityPoolId": "poolId"], service.pool.get) }
}

/// The shapes that several operations share.
extension WireShape {
    /// The range for shapes without a bound in the service model. The method may have a bound.
    static let any = 0...Int.max
    static let id = texts(1...55, .id)
    static let poolName = texts(1...128, .word(#"[\w\s+=,.@-]+"#, and: " \t\n\r\u{0B}\u{0C}+=,.@-"))
    static let developerProvider = texts(1...128, .word(#"[\w._-]+"#, and: ".-"))
    static let developerUser = texts(1...1024)
    static let provider = texts(1...128)
    static let logins = map(
        WireText(length: 1...128), to: .text(WireText(length: 1...50000, isSecret: true)), 0...10)
    static let pageSize = integer(1...60)
    static let pageToken = texts(1...65535, .some(#"[\S]+"#) { !$0.properties.isWhitespace })
    static let arn = texts(20...2048)
    static let tags = map(WireText(length: 1...128), to: texts(0...256), any)
}
