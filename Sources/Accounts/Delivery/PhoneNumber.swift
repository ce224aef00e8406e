import Contract

/// A telephone number as E.164 writes it: a plus sign, then country code and number.
public struct PhoneNumber: Sendable, Hashable, CustomStringConvertible {
    /// Why a text is no number that messages can be sent to.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        case noCountryCode
        /// After the plus sign there is something else than digits.
        case notDigits
        /// E.164 allows 15 digits, and no country has numbers of fewer than 7 with its code.
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

    /// How it is shown to whoever may not be its owner.
    var masked: String { "+***\(description.suffix(2))" }
}

/// Where a message goes.
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

    /// What messages to it are counted by, whatever they are for.
    func address(in tenantId: String) -> String { "\(tenantId)/\(Username.fold(text))" }
}
