import Contract

extension LocalAccountMethod {
    /// Whether accounts can have passwords.
    package var permitsPasswords: Bool { self == .emailPassword || self == .either }
}
