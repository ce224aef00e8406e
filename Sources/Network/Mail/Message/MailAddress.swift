/// An address that every mail server accepts: `local@domain` in ASCII. The local part is a dot-atom (RFC 5322 section 3.2.3), the domain a
/// host name of at least two labels (RFC 1123 section 2.1). It cannot contain white space, quotation marks or line breaks.
///
/// Quoted local parts and address literals, which RFC 5321 also allows, are rejected because users do not sign up with them.
public struct MailAddress: Hashable, Sendable, CustomStringConvertible {
    /// The reason a text is not a usable email address.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// Contains characters outside ASCII (RFC 6531): many servers cannot deliver to such addresses, and similar characters are not
        /// distinguishable.
        case internationalised
        case malformed
        /// Has more than 64 bytes before the @, or more than 254 in total (RFC 5321 section 4.5.3.1).
        case tooLong

        public var description: String {
            switch self {
            case .internationalised:
                "Internationalized email addresses are not supported. Use ASCII characters; a domain can be written in its xn-- form."
            case .malformed: "The email address is not valid. It must have the form name@example.com."
            case .tooLong: "The email address is too long: at most 64 characters before the @ and 254 in total are allowed."
            }
        }
    }

    /// The part before the @, as written.
    public let localPart: String
    /// The part after the @, as written.
    public let domain: String

    public var description: String { "\(localPart)@\(domain)" }

    /// Parses an address as a user enters it, without a name and without angle brackets. White space is not removed.
    public init(_ text: String) throws(Refusal) {
        let bytes = Array(text.utf8)
        guard bytes.allSatisfy({ $0 < 0x80 }) else { throw .internationalised }
        guard let at = bytes.firstIndex(of: UInt8(ascii: "@")) else { throw .malformed }
        let (local, domain) = (bytes[..<at], bytes[(at + 1)...])
        guard Self.isDotAtom(local), Self.isHostName(domain) else { throw .malformed }
        guard local.count <= 64, bytes.count <= 254 else { throw .tooLong }
        localPart = String(decoding: local, as: UTF8.self)
        self.domain = String(decoding: domain, as: UTF8.self)
    }

    private static func isDotAtom(_ text: ArraySlice<UInt8>) -> Bool {
        text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy { atom in
            !atom.isEmpty && atom.allSatisfy { isAlphanumeric($0) || "!#$%&'*+-/=?^_`{|}~".utf8.contains($0) }
        }
    }

    /// Returns whether the text is a host name of at least two labels whose last one is not a number.
    private static func isHostName(_ text: ArraySlice<UInt8>) -> Bool {
        let labels = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return labels.count >= 2 && labels.allSatisfy(isHostLabel) && !labels.last!.allSatisfy { (0x30...0x39).contains($0) }
    }
}

/// Returns whether the text is a label of a host name (RFC 1123 section 2.1).
func isHostLabel(_ label: ArraySlice<UInt8>) -> Bool {
    let hyphen = UInt8(ascii: "-")
    return (1...63).contains(label.count) && label.first != hyphen && label.last != hyphen
        && label.allSatisfy { isAlphanumeric($0) || $0 == hyphen }
}

private func isAlphanumeric(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
}
