import Accounts
import Contract
import JSON
import Platform
import ServiceContext
import Storage

/// The addresses that only the emulator has. They need no credential.
extension FirebaseCall {
    func emulator() throws -> WireAnswer {
        if path.version == "action" { return try action() }
        if path.version == "auth", request.method == "GET" {
            if path.name == "handler" { return FirebasePages.handler(project: project) }
            if path.name == "iframe" { return FirebasePages.frame }
        }
        guard path.version == "v1", path.project != nil else { throw FirebaseError.notFound }
        switch (request.method, path.name) {
        case ("DELETE", "accounts"):
            try deleteAccounts()
            return .json([:])
        case ("GET", "config"): return .json(try emulatorConfiguration())
        case ("PATCH", "config"):
            try patchEmulatorConfiguration()
            return .json(try emulatorConfiguration())
        case ("GET", "oobCodes"):
            let codes = try context.database.read { try $0.vendorRecords(tenantId, Self.codes) }.map { record -> JSONValue in
                var code = record.value
                for name in ["expiresAt", "factor", "accountId"] { code[name] = nil }
                return .object(code)
            }
            return .json(["oobCodes": .array(codes)])
        case ("GET", "verificationCodes"):
            // Codes that compat.http has sent are not shown.
            let codes = try context.database.read { try $0.vendorRecords(tenantId, Self.messages) }.compactMap { record -> JSONValue? in
                var code = record.value
                guard code["code"] != nil else { return nil }
                for name in ["expiresAt", "tries"] { code[name] = nil }
                return .object(code)
            }
            return .json(["verificationCodes": .array(codes)])
        default: throw FirebaseError.notFound
        }
    }

    private func deleteAccounts() throws {
        _ = try tenantRecord()
        while true {
            let accounts = try context.database.read { try $0.accounts(of: tenantId, after: "", limit: 200) }
            if accounts.isEmpty { return }
            for account in accounts {
                _ = try service.account.delete(AccountDelete.Params(accountId: account.id), call)
                try context.database.write { _ = try $0.deleteVendorRecord(tenantId, Self.flags, account.id) }
            }
        }
    }

    private func emulatorConfiguration() throws -> JSONObject {
        let settings = try tenantRecord().settings
        return [
            "signIn": ["allowDuplicateEmails": .bool(!settings.oneAccountPerAddress)],
            "emailPrivacyConfig": ["enableImprovedEmailPrivacy": .bool(settings.enumerationProtection ?? false)],
        ]
    }

    func patchEmulatorConfiguration() throws {
        var change = TenantUpdate.Params(tenantId: tenantId)
        if let duplicates = try body.object("signIn")?.flag("allowDuplicateEmails") { change.oneAccountPerAddress = !duplicates }
        change.enumerationProtection = try body.object("emailPrivacyConfig")?.flag("enableImprovedEmailPrivacy")
        _ = try tenantRecord()
        _ = try service.tenant.update(change, call)
    }

    /// Does what a link says.
    private func action() throws -> WireAnswer {
        func failure(_ error: String, _ instructions: String) -> WireAnswer {
            .json(["authEmulator": ["error": .string(error), "instructions": .string(instructions)]], status: 400)
        }
        guard query("apiKey")?.isEmpty == false else {
            return failure("missing apiKey query parameter", "Please modify the URL to specify an apiKey, such as ...&apiKey=YOUR_API_KEY")
        }
        guard let code = query("oobCode"), !code.isEmpty else {
            return failure("missing oobCode query parameter", "Please modify the URL to specify an oobCode, such as ...&oobCode=CODE")
        }
        let types = [
            "verifyEmail": "VERIFY_EMAIL", "verifyAndChangeEmail": "VERIFY_AND_CHANGE_EMAIL", "recoverEmail": "RECOVER_EMAIL",
            "resetPassword": "PASSWORD_RESET", "signIn": "EMAIL_SIGNIN", "revertSecondFactorAddition": Self.revertFactor,
        ]
        guard let mode = query("mode"), let type = types[mode] else {
            return failure("Invalid mode", "Use the link as it was returned.")
        }
        if mode == "signIn" {
            guard let url = query("continueUrl"), !url.isEmpty else {
                return failure("Missing continueUrl query parameter", "To sign in, the continueUrl must be given with handleCodeInApp.")
            }
            let others = request.parameters.filter { $0.name != "continueUrl" }
            let text = others.map { "\($0.name)=\(PercentEncoding.encode($0.value))" }.joined(separator: "&")
            return WireAnswer(status: 303, headers: [("location", url + (url.contains("?") ? "&" : "?") + text)], body: "")
        }
        do {
            let record = try self.code(code, [type])
            var done: JSONObject = [:]
            if mode == "resetPassword" {
                guard let password = query("newPassword"), !password.isEmpty else {
                    return failure("missing newPassword query parameter", "Append &newPassword=NEW_PASSWORD to the link.")
                }
                let call = try copy(with: ["oobCode": .string(code), "newPassword": .string(password)])
                _ = try call.resetPassword()
                done = ["success": "The password has been successfully updated.", "email": record["email"] ?? ""]
            } else {
                _ = try apply(code, record)
                let words = [
                    "recoverEmail": "The email has been successfully reset.",
                    "revertSecondFactorAddition": "The second factor was removed.",
                ]
                done = ["success": .string(words[mode] ?? "The email has been successfully verified.")]
                if mode == "verifyAndChangeEmail" { done["newEmail"] = record["newEmail"] } else { done["email"] = record["email"] }
            }
            if let url = query("continueUrl"), !url.isEmpty, mode != "recoverEmail" {
                return WireAnswer(status: 303, headers: [("location", url)], body: "")
            }
            return .json(["authEmulator": .object(done)])
        } catch let error as FirebaseError {
            return failure("The link failed: \(error.message).", "Request another link; each one can be used once.")
        }
    }
}
