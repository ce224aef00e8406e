import Contract
import JSON
import Platform
import WebAuthn

/// The response of a browser in the JSON form of WebAuthn Level 3 section 5.1. Browsers add members, so unknown ones are ignored.
struct PasskeyResponse: Sendable {
    let credentialId: [UInt8]
    let clientData: [UInt8]
    private(set) var attestationObject: [UInt8] = []
    private(set) var authenticatorData: [UInt8] = []
    private(set) var signature: [UInt8] = []
    private(set) var userHandle: [UInt8]?
    private(set) var transports: [String] = []
    private(set) var isDiscoverable: Bool?

    var id: String { Base64URL.encode(credentialId) }

    /// - Parameter place: The JSON pointer of the response in the parameters.
    /// - Throws: `InvalidParams` with every problem.
    init(_ object: JSONObject, _ kind: StoredCeremony.Kind, at place: String) throws {
        var reader = Reader(place: place)
        let rawId = reader.bytes(object, "rawId", 1...1023)
        let id = reader.bytes(object, "id", 1...1023)
        if id != rawId, !id.isEmpty, !rawId.isEmpty { reader.add("id", "const", "id and rawId differ. Pass the response unchanged.") }
        if object["type"]?.string != "public-key" { reader.add("type", "const", "type must be public-key.") }
        let inner = object["response"]?.object ?? [:]
        if object["response"]?.object == nil { reader.add("response", "required", "The member response is missing or not an object.") }
        credentialId = rawId
        reader.prefix = "response/"
        clientData = reader.bytes(inner, "clientDataJSON", 1...8192)
        switch kind {
        case .registration, .enrollment:
            attestationObject = reader.bytes(inner, "attestationObject", 1...65536)
            transports = reader.transports(inner)
        case .authentication, .challenge:
            authenticatorData = reader.bytes(inner, "authenticatorData", 1...8192)
            signature = reader.bytes(inner, "signature", 1...1024)
            if let handle = inner["userHandle"], !handle.isNull { userHandle = reader.bytes(inner, "userHandle", 1...64) }
            if inner["attestationObject"] != nil {
                reader.add("attestationObject", "unknown", "This is the response to a registration. Pass it to passkey.finishRegistration.")
            }
        }
        isDiscoverable = object["clientExtensionResults"]?.object?["credProps"]?.object?["rk"]?.bool
        if !reader.violations.isEmpty { throw InvalidParams(violations: reader.violations) }
    }

    private struct Reader {
        let place: String
        var prefix = ""
        var violations: [Violation] = []

        mutating func add(_ member: String, _ rule: String, _ message: String) {
            violations.append(Violation(pointer: "\(place)/\(prefix)\(member)", rule: rule, message: message))
        }

        /// Returns the bytes of a member in base64url; empty with a violation if it is missing or not valid.
        mutating func bytes(_ object: JSONObject, _ member: String, _ count: ClosedRange<Int>) -> [UInt8] {
            guard let text = object[member]?.string else {
                add(member, "required", "\(member) is missing or not a string.")
                return []
            }
            guard text.utf8.count <= Base64URL.encodedCount(count.upperBound), let bytes = Base64URL.decode(text.utf8),
                count.contains(bytes.count)
            else {
                add(
                    member, "pattern", "\(member) must be base64url without padding, of \(count.lowerBound) to \(count.upperBound) bytes.")
                return []
            }
            return bytes
        }

        mutating func transports(_ object: JSONObject) -> [String] {
            guard let member = object["transports"], !member.isNull else { return [] }
            let names = member.array?.compactMap(\.string) ?? []
            guard let list = member.array, names.count == list.count, list.count <= 16,
                names.allSatisfy({ (1...32).contains($0.utf8.count) && $0.utf8.allSatisfy { (0x21...0x7E).contains($0) } })
            else {
                add("transports", "items", "transports must be a list of at most 16 names of at most 32 characters.")
                return []
            }
            return Set(names).sorted()
        }
    }
}

extension JSONValue {
    fileprivate var isNull: Bool { if case .null = self { true } else { false } }
}
