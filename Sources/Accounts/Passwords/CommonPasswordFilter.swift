import CPasswordFilter
import Crypto
import Platform

/// The list of 100,000 common passwords in the program. `Sources/CPasswordFilter/generate.py` describes its format.
///
/// - Source: OWASP ASVS 5.0 §6.2.4; NIST SP 800-63B-4 §3.1.1.2.
enum CommonPasswordFilter {
    private static let headCount = 5
    private static let placeCount = 3

    /// Returns whether the list contains the password, regardless of case. A password that is not in the list is found by mistake with a
    /// probability of 1 in 17 million.
    static func contains(_ password: String) -> Bool {
        let table = UnsafeBufferPointer(start: mintmark_password_filter, count: mintmark_password_filter_size)
        let digest = Hash.sha256([table[0]] + Array(folded(password).utf8))
        func number(_ bytes: some Collection<UInt8>) -> Int { bytes.reduce(0) { $0 << 8 | Int($1) } }
        let third = number(table[1..<headCount])
        var fingerprint = number(digest[12..<16]) & 0xFF_FFFF
        for index in 0..<placeCount {
            let place = index * third + number(digest[4 * index..<4 * index + 4]) % third
            let start = headCount + placeCount * place
            fingerprint ^= number(table[start..<start + placeCount])
        }
        return fingerprint == 0
    }

    private static func folded(_ password: String) -> String { password.nfc.lowercased().nfc }
}
