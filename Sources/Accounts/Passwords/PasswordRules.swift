import Contract
import Platform

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
        // Characters count as they are compared: normalized (NIST SP 800-63B-4 §3.1.1.2).
        let password = password.nfc
        let scalars = Array(password.unicodeScalars)
        if policy.acceptsUnicode {
            if scalars.contains(where: isUnusable) { add(.disallowedCharacters, "It contains control or unassigned characters.") }
        } else if !scalars.allSatisfy({ (0x20...0x7E).contains($0.value) }) {
            add(.disallowedCharacters, "It contains characters other than ASCII letters, digits, spaces and symbols.")
        }
        if scalars.count < policy.shortest { add(.tooShort, "It needs at least \(policy.shortest) characters.") }
        if scalars.count > policy.maximumLength { add(.tooLong, "It can have at most \(policy.maximumLength) characters.") }
        if classes(of: scalars) < policy.leastClasses {
            add(.tooWeak, "It needs \(policy.leastClasses) of these: uppercase letters, lowercase letters, digits, symbols.")
        }
        for (rule, message) in similarities(password, policy, context) where scalars.count <= 256 { add(rule, message) }
        if isCurrent { add(.recentlyUsed, "It is the current password.") }
        return failures
    }

    /// Returns the first violated rule about words and common passwords.
    private static func similarities(
        _ password: String, _ policy: PasswordPolicy, _ context: ContextWords
    ) -> [(PasswordRule, String)] {
        let terms = policy.bannedTerms ?? []
        if policy.checksContextWords, context.refuse(password) || ContextWords(displayNames: terms).refuse(password) {
            return [
                (
                    .context,
                    "It is too similar to the email address, to a name of the user or of the tenant, or to a term that the tenant bans."
                )
            ]
        }
        if policy.checksCommon == true, CommonPasswordFilter.contains(password) {
            return [
                (.common, "It is one of the most common passwords, which are tried first to break in. Several random words are better.")
            ]
        }
        if policy.checksBanned, BannedPasswords.isBanned(password, terms: BannedPasswords.common + terms) {
            return [(.banned, "It is too common.")]
        }
        return []
    }

    /// Returns whether no password can contain the character. A surrogate cannot occur in a string.
    private static func isUnusable(_ scalar: Unicode.Scalar) -> Bool {
        let category = scalar.properties.generalCategory
        return category == .control || category == .unassigned
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
