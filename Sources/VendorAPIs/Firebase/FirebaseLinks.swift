import Accounts
import Contract
import JSON
import Platform
import ServiceContext
import Storage

/// Sends links for actions by email, or returns them to an administrator. At the address of a test, no message is sent: the links are read
/// at the emulator's address.
extension FirebaseCall {
    func sendOobCode() throws -> JSONObject {
        let tenant = try tenantRecord()
        guard let type = try body.choice("requestType", of: FirebaseEnumeration.requestType), type != "OOB_REQ_TYPE_UNSPECIFIED" else {
            throw FirebaseError("MISSING_REQ_TYPE")
        }
        guard let action = Self.actions[type] else { throw FirebaseError.payload("requestType \(type) is not available.") }
        try requireApplication()
        if type == "EMAIL_SIGNIN", try !switches().allowsEmailLink { throw FirebaseError("OPERATION_NOT_ALLOWED") }
        let returnsLink = try body.flag("returnOobLink") ?? false
        if returnsLink, !isAdmin { throw FirebaseError("INSUFFICIENT_PERMISSION") }
        if !returnsLink, !endpoint.isTest { try requirePage(of: tenant) }
        if let url = try body.filled("continueUrl") { try requireUsable(url, tenant) }
        let newEmail = try type == "VERIFY_AND_CHANGE_EMAIL" ? newAddress() : nil
        let email = try address(for: type, returnsLink: returnsLink)
        let answer: JSONObject = ["kind": "identitytoolkit#GetOobConfirmationCodeResponse", "email": .string(email)]
        if let newEmail, try account(email: newEmail) != nil {
            guard tenant.enumerationProtection, !returnsLink else { throw FirebaseError("EMAIL_EXISTS") }
            try sendNotice(to: newEmail, for: action)
            return answer
        }
        if type == "PASSWORD_RESET", try account(email: email) == nil {
            guard tenant.enumerationProtection, !returnsLink else { throw FirebaseError("EMAIL_NOT_FOUND") }
            try sendNotice(to: email, for: action)
            return answer
        }
        if returnsLink {
            let code = try issue(type, email, newEmail: newEmail)
            return answer.merging(["oobCode": code["oobCode"] ?? .null, "oobLink": code["oobLink"] ?? .null])
        }
        let messages = try outgoing()
        do { try messages.admit(linkTo: newEmail ?? email, for: action) } catch let error as TooManyCodes {
            // The clients know this code as too many requests.
            throw FirebaseError(
                "\(type == "PASSWORD_RESET" ? "RESET_PASSWORD_EXCEED_LIMIT" : "TOO_MANY_ATTEMPTS_TRY_LATER") : \(error.message)")
        }
        let code = try issue(type, email, newEmail: newEmail)
        try messages.send(Self.link(code, action, to: newEmail ?? email))
        return answer
    }

    /// - Throws: `FirebaseError` if the settings of an application lack its ID.
    private func requireApplication() throws {
        if body.has("iOSAppStoreId"), try body.filled("iOSBundleId") == nil { throw FirebaseError("MISSING_IOS_BUNDLE_ID") }
        guard try body.filled("androidPackageName") == nil else { return }
        if try body.flag("androidInstallApp") == true || body.filled("androidMinimumVersionCode") != nil {
            throw FirebaseError("MISSING_ANDROID_PACKAGE_NAME")
        }
    }

    private static let actions: [String: ProductLink.Action] = [
        "PASSWORD_RESET": .passwordReset, "EMAIL_SIGNIN": .signIn, "VERIFY_EMAIL": .verifyEmail, "VERIFY_AND_CHANGE_EMAIL": .changeEmail,
    ]

    private static func link(_ code: JSONObject, _ action: ProductLink.Action, to address: String) -> ProductLink {
        let type = code["requestType"]?.string ?? ""
        return ProductLink(
            action, to: address, code: code["oobCode"]?.string ?? "", url: code["oobLink"]?.string ?? "",
            lifetimeSeconds: lifetimes[type] ?? usualLifetime)
    }

    /// Sends a notice in place of a link, so that the answer reveals nothing.
    private func sendNotice(to email: String, for action: ProductLink.Action) throws {
        let messages = try outgoing()
        try messages.admit(linkTo: email, for: action)
        try messages.sendNotice(to: email)
    }

    /// Gives the user a link that undoes a change of the address. It goes to the first address that the account had.
    func issueRecovery(of email: String) throws {
        let code = try issue("RECOVER_EMAIL", email)
        let hasPage = try tenantRecord().settings.delivery?.linkUrl != nil
        guard !endpoint.isTest, hasPage else { return }
        // A notice: neither a hook nor a limit can keep it from the user, and the change stays if it cannot be sent.
        try? outgoing().send(Self.link(code, .revertEmail, to: email))
    }

    /// - Throws: `FirebaseError` if the tenant has no page for links. The host of a request does not prove the application's address.
    private func requirePage(of tenant: TenantRecord) throws {
        if tenant.settings.delivery?.linkUrl != nil { return }
        throw FirebaseError("OPERATION_NOT_ALLOWED : The project has no page for links. Set delivery.linkUrl with tenant.update.")
    }

    /// - Throws: `FirebaseError` if a URL is not absolute, or in `compat.http` its host is not one of the application.
    private func requireUsable(_ url: String, _ tenant: TenantRecord) throws {
        guard Self.isAbsolute(url) else {
            throw FirebaseError("INVALID_CONTINUE_URI : ((expected an absolute URI with valid scheme and host))")
        }
        if endpoint.isTest { return }
        let scope = project
        let config = try context.database.read { try $0.vendorRecord(scope, "config", "project") }
        var hosts = config?["authorizedDomains"]?.array?.compactMap(\.string) ?? []
        if let page = tenant.settings.delivery?.linkUrl.flatMap(Self.host) { hosts.append(page) }
        guard let host = Self.host(of: url), hosts.contains(where: { host == $0 || host.hasSuffix(".\($0)") }) else {
            throw FirebaseError("UNAUTHORIZED_DOMAIN : The host of continueUrl is not one of the project's authorizedDomains.")
        }
    }

    /// Returns the host of an absolute URL, in lower case and without its port.
    private static func host(of url: String) -> String? {
        guard let start = url.firstRange(of: "://") else { return nil }
        let authority = url[start.upperBound...].prefix { !"/?#\\".contains($0) }
        // A user name in the URL can hide its host.
        guard !authority.contains("@") else { return nil }
        return authority.prefix { $0 != ":" }.lowercased()
    }

    static func isAbsolute(_ url: String) -> Bool {
        let rest = url.drop { $0 != ":" }
        let scheme = url.prefix(upTo: rest.startIndex).lowercased()
        return !scheme.isEmpty && !["javascript", "data", "vbscript"].contains(scheme) && rest.hasPrefix("://")
            && rest.dropFirst(3).first.map { $0 != "/" && $0 != "?" } ?? false
    }

    private func newAddress() throws -> String {
        guard let new = try body.filled("newEmail") else { throw FirebaseError("MISSING_NEW_EMAIL") }
        return try Username(new).folded
    }

    /// Returns the present address of the user of the code.
    private func address(for type: String, returnsLink: Bool) throws -> String {
        let needsUser = type == "VERIFY_EMAIL" || type == "VERIFY_AND_CHANGE_EMAIL"
        if needsUser, !returnsLink || body.has("idToken") {
            // As at the original, a missing token is one that is not valid here.
            if type == "VERIFY_EMAIL", !body.has("idToken") { throw FirebaseError("INVALID_ID_TOKEN") }
            let user = try user()
            // A new address takes over the account, so the link to it needs a recent sign-in.
            if type == "VERIFY_AND_CHANGE_EMAIL" { try requireRecent(user) }
            guard let email = user.account.email else { throw FirebaseError("MISSING_EMAIL") }
            return Username.fold(email)
        }
        guard let email = try body.filled("email") else { throw FirebaseError("MISSING_EMAIL") }
        _ = try Username(email)
        if needsUser, try account(email: email) == nil { throw FirebaseError("USER_NOT_FOUND") }
        return Username.fold(email)
    }
}

extension JSONObject {
    fileprivate func merging(_ other: JSONObject) -> JSONObject {
        var result = self
        for (name, value) in other.members { result[name] = value }
        return result
    }
}
