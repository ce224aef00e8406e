@_spi(_Unicode) import Swift

extension String {
    /// The text in the Unicode normalization form NFC, in which equal characters have equal encodings.
    ///
    /// The tables of the standard library are used: Foundation, whose normalization is public, would double the size of the program.
    package var nfc: String {
        if utf8.allSatisfy({ $0 < 0x80 }) { return self }
        var normalized = String.UnicodeScalarView()
        for scalar in _nfc { normalized.append(scalar) }
        return String(normalized)
    }
}
