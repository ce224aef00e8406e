import Contract

extension TenantRecord {
    /// Whether the first sign-in with a phone number creates an account.
    var createsAccountsByPhone: Bool { settings.phoneSignIn == .everyone && settings.signUpAllowed }

    /// - Throws: `PhoneSignInNotAllowed`.
    func requirePhoneSignIn() throws {
        if settings.phoneSignIn == .off { throw PhoneSignInNotAllowed(tenantId: id) }
    }
}
