import Contract

/// The recipient of the codes of a flow: its email address, or for a sign-in by SMS its phone number.
extension Flow {
    /// The phone number of a sign-in by SMS, or `nil`. Every email address contains an `@`.
    var phoneNumber: PhoneNumber? {
        guard kind == .signIn, username.hasPrefix("+"), !username.contains("@") else { return nil }
        return try? PhoneNumber(username)
    }

    var recipient: Recipient { phoneNumber.map { .sms($0) } ?? .email(username) }
}
