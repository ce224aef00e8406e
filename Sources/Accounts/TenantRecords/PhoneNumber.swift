import Contract

/// A phone number in the E.164 format: a plus sign, the country code and the number.
public struct PhoneNumber: Sendable, Hashable, CustomStringConvertible {
    /// The reason a text is not a valid phone number.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        case noCountryCode
        /// The text after the plus sign contains characters other than digits.
        case notDigits
        /// E.164 permits at most 15 digits. Numbers including the country code have at least 7.
        case length(Int)

        public var description: String {
            switch self {
            case .noCountryCode: "It must begin with + and a country code."
            case .notDigits: "Only digits are allowed after the +, without spaces and hyphens."
            case .length(let count): "It has \(count) digits; \(digits.lowerBound) to \(digits.upperBound) are allowed."
            }
        }
    }

    private static let digits = 7...15

    public let description: String

    public init(_ text: String) throws(Refusal) {
        guard text.hasPrefix("+"), !text.hasPrefix("+0") else { throw .noCountryCode }
        let number = text.utf8.dropFirst()
        guard number.allSatisfy({ (0x30...0x39).contains($0) }) else { throw .notDigits }
        guard Self.digits.contains(number.count) else { throw .length(number.count) }
        description = text
    }

    /// The masked form, for callers that may not own the number.
    var masked: String { "+***\(description.suffix(2))" }
}

/// The recipient of a message.
enum Recipient: Sendable, Hashable {
    case email(String)
    case sms(PhoneNumber)

    var channel: Channel {
        switch self {
        case .email: .email
        case .sms: .sms
        }
    }

    /// The address or number itself.
    var text: String {
        switch self {
        case .email(let address): address
        case .sms(let number): number.description
        }
    }

    /// The key under which messages to this recipient are counted, for all purposes.
    func address(in tenantId: String) -> String { "\(tenantId)/\(Username.fold(text))" }
}
