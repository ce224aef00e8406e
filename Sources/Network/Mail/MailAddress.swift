/// An address that every mail server takes: `local@domain` in ASCII, the local part a dot-atom (RFC 5322 section 3.2.3), the domain
/// a host name of two labels or more (RFC 1123 section 2.1). It cannot hold a blank, a quote or a line end.
///
/// Quoted local parts and address literals, which RFC 5321 knows too, are refused: nobody signs up with one.
public struct MailAddress: Hashable, Sendable, CustomStringConvertible {
    /// Why a text is no address that mail can be sent to.
    public enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        /// Characters beyond ASCII (RFC 6531): many servers cannot deliver there, and look-alikes could not be told apart.
        case internationalised
        case malformed
        /// More than 64 bytes before the @, or more than 254 in all (RFC 5321 section 4.5.3.1).
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

    /// Before the @, as it was written.
    public let localPart: String
    /// After the @, as it was written.
    public let domain: String

    public var description: String { "\(localPart)@\(domain)" }

    /// Reads an address as a person types it, without a name and without angle brackets. Nothing is trimmed.
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

    /// Whether the text is a host name of two labels or more whose last one is no number.
    private static func isHostName(_ text: ArraySlice<UInt8>) -> Bool {
        let labels = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return labels.count >= 2 && labels.allSatisfy(isHostLabel) && !labels.last!.allSatisfy { (0x30...0x39).contains($0) }
    }
}

/// RFC 1123 section 2.1.
func isHostLabel(_ label: ArraySlice<UInt8>) -> Bool {
    let hyphen = UInt8(ascii: "-")
    return (1...63).contains(label.count) && label.first != hyphen && label.last != hyphen
        && label.allSatisfy { isAlphanumeric($0) || $0 == hyphen }
}

private func isAlphanumeric(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
}
