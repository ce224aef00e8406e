/// The rule for the subject of a user at a login provider.
package enum LoginSubject {
    /// Returns the reason why a subject cannot be stored, or `nil` if it can. A subject has at most 255 characters (OpenID Connect
    /// Core 2). PostgreSQL cannot store U+0000.
    package static func flaw(_ subject: String) -> String? {
        if subject.unicodeScalars.count > 255 { return "has more than 255 characters" }
        return subject.utf8.contains(0) ? "contains the character U+0000" : nil
    }
}
