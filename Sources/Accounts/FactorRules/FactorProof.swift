import Contract
import JSON

/// The proof of a second factor that a caller submits.
enum FactorProof: Sendable {
    case code(String)
    case passkey(PasskeyResponse)

    /// - Throws: `InvalidParams` if the response is not well-formed.
    init(_ code: String?, _ response: JSONObject?, _ kind: StoredCeremony.Kind) throws {
        if let response {
            self = .passkey(try PasskeyResponse(response, kind, at: "/response"))
        } else {
            self = .code(code ?? "")
        }
    }

    /// The value that identifies a repetition.
    static func identifying(_ code: String?, _ response: JSONObject?) -> JSONValue {
        response.map { .object($0) } ?? code.map { .string($0) } ?? .null
    }
}

extension MfaResolve.Params.Proof {
    var code: String? { if case .code(let code) = self { code } else { nil } }
    var response: JSONObject? { if case .response(let response) = self { response } else { nil } }
}

extension MfaConfirm.Params.Proof {
    var code: String? { if case .code(let code) = self { code } else { nil } }
    var response: JSONObject? { if case .response(let response) = self { response } else { nil } }
}
