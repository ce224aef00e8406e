import Contract

/// What a password must be like (native-auth.md 1.7). All that is wrong with it is said at once, in the order of the suberrors.
enum PasswordRules {
    /// - Parameters:
    ///   - names: of the person and of the tenant, which must not stand in it.
    ///   - isCurrent: whether it is the password that it is to replace.
    static func failures(
        of password: String, under policy: PasswordPolicy, names: [String] = [], isCurrent: Bool = false
    ) -> [PasswordFailure] {
        var failures: [PasswordFailure] = []
        func add(_ rule: PasswordRule, _ message: String) { failures.append(PasswordFailure(rule: rule, message: message)) }
        let scalars = Array(password.unicodeScalars)
        if !scalars.allSatisfy({ (0x20...0x7E).contains($0.value) }) {
            add(.disallowedCharacters, "It has characters beyond letters, digits, blanks and symbols of ASCII.")
        }
        if scalars.count < policy.minimumLength { add(.tooShort, "It needs at least \(policy.minimumLength) characters.") }
        if scalars.count > policy.maximumLength { add(.tooLong, "It may have at most \(policy.maximumLength) characters.") }
        if classes(of: scalars) < policy.minimumClasses {
            add(.tooWeak, "It needs \(policy.minimumClasses) of these: upper case, lower case, digits, symbols.")
        }
        if policy.checksBanned, scalars.count <= 256,
            BannedPasswords.isBanned(password, terms: BannedPasswords.common + (policy.bannedTerms ?? []), names: names)
        {
            add(.banned, "It is too common, or too close to a name.")
        }
        if isCurrent { add(.recentlyUsed, "It is the password that there is now.") }
        return failures
    }

    /// How many of upper case, lower case, digits and symbols there are; a blank is a symbol.
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
