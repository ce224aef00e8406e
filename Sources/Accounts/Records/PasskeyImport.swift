import WebAuthn

extension PasskeyRecord {
    /// Removes what a use of the passkey changes, for comparisons.
    mutating func forgetUse() {
        counter = 0
        isBackedUp = false
        isUserVerified = false
        lastUsedAt = nil
    }

    /// The reason a public key is refused, as a sentence.
    package struct KeyFlaw: Error { package let detail: String }

    /// Returns the algorithm of a public key in COSE form, if the key is valid.
    package static func algorithm(of publicKey: [UInt8]) -> Result<Int64, KeyFlaw> {
        do throws(PasskeyRefusal) { return .success(Int64(try CredentialKey(cose: publicKey).algorithm.rawValue)) } catch {
            return .failure(KeyFlaw(detail: error.detail))
        }
    }
}
