import Contract

/// A telephone number as E.164 writes it: a plus sign, then country code and number.
public struct PhoneNumber: Sendable, Hashable, CustomStringConvertible {
    /// How many digits there are; E.164 allows 15, and no country has numbers of fewer than 7 with its code.
    static let digits = 7...15

    public let description: String

    /// - Throws: `InvalidPhoneNumber`.
    public init(_ text: String) throws {
        if let reason = Self.flaw(in: Array(text.utf8)) { throw InvalidPhoneNumber(reason: reason) }
        description = text
    }

    /// How it is shown to whoever may not be its owner.
    var masked: String { "+***\(description.suffix(2))" }

    private static func flaw(in bytes: [UInt8]) -> String? {
        if bytes.first != UInt8(ascii: "+") { return "it does not begin with + and the country code" }
        let number = bytes.dropFirst()
        if !number.allSatisfy({ (0x30...0x39).contains($0) }) { return "after the + there are digits alone, without blanks and hyphens" }
        if number.first == UInt8(ascii: "0") { return "no country code begins with 0" }
        if !digits.contains(number.count) {
            return "it has \(number.count) digits, and there are \(digits.lowerBound) to \(digits.upperBound)"
        }
        return nil
    }
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
