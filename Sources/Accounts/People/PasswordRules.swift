import Contract

/// Validates passwords against a password policy. Reports all violations together, in the order of the suberrors of Microsoft Entra
/// (Sources/Accounts/README.md, "Password rules").
enum PasswordRules {
    /// - Parameters:
    ///   - context: The address and names of the account, and the name of the tenant.
    ///   - isCurrent: Whether the password equals the one that it replaces.
    static func failures(
        of password: String, under policy: PasswordPolicy, context: ContextWords = ContextWords(), isCurrent: Bool = false
    ) -> [PasswordFailure] {
        var failures: [PasswordFailure] = []
        func add(_ rule: PasswordRule, _ message: String) { failures.append(PasswordFailure(rule: rule, message: message)) }
        let scalars = Array(password.unicodeScalars)
        if !scalars.allSatisfy({ (0x20...0x7E).contains($0.value) }) {
            add(.disallowedCharacters, "It contains characters other than ASCII letters, digits, spaces and symbols.")
        }
        if scalars.count < policy.shortest { add(.tooShort, "It needs at least \(policy.shortest) characters.") }
        if scalars.count > policy.maximumLength { add(.tooLong, "It can have at most \(policy.maximumLength) characters.") }
        if classes(of: scalars) < policy.leastClasses {
            add(.tooWeak, "It needs \(policy.leastClasses) of these: uppercase letters, lowercase letters, digits, symbols.")
        }
        if policy.checksBanned, scalars.count <= 256 {
            if context.refuse(password) {
                add(.banned, "It is too similar to the email address, to a name of the user or to the name of the tenant.")
            } else if BannedPasswords.isBanned(password, terms: BannedPasswords.common + (policy.bannedTerms ?? [])) {
                add(.banned, "It is too common.")
            }
        }
        if isCurrent { add(.recentlyUsed, "It is the current password.") }
        return failures
    }

    /// Returns how many character classes occur: uppercase letters, lowercase letters, digits, and symbols including the space.
    private static func classes(of scalars: [Unicode.Scalar]) -> Int {
        var found: Set<Int> = []
        for scalar in scalars where (0x20...0x7E).contains(scalar.value) {
            switch scalar {
            case "A"..."Z": found.insert(0)
            case "a"..."z": found.insert(1)
            case "0"..."9": found.insert(2)
            default: found.insert(3)
            }
        }
        return found.count
    }
}
