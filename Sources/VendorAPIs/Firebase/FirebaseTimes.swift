import Accounts
import Contract
import JSON
import Platform
import ServiceContext
import Storage

/// The times of a user that administrators can set, in seconds since 1970-01-01 UTC. `nil` keeps a time.
struct FirebaseTimes {
    var createdAt: Int64?
    var lastSignInAt: Int64?
}

extension FirebaseCall {
    /// Returns the times that a request of an administrator sets.
    ///
    /// - Throws: `FirebaseError` if a time is negative or later than the present one.
    func times(of account: AccountRecord) throws -> FirebaseTimes {
        func time(_ name: String) throws -> Int64? {
            guard let milliseconds = try body.integer(name) else { return nil }
            guard milliseconds >= 0, milliseconds / 1000 <= now else {
                throw FirebaseError("INVALID_ARGUMENT : \(name) must be from 0 to the present time, in milliseconds.")
            }
            return milliseconds / 1000
        }
        return FirebaseTimes(createdAt: try time("createdAt"), lastSignInAt: try time("lastLoginAt"))
    }

    /// Sets the times of a user. They do not show when the user got tokens.
    func setTimes(_ times: FirebaseTimes, of id: String) throws {
        if times.createdAt == nil, times.lastSignInAt == nil { return }
        try context.database.write { tx in
            guard let account = try tx.account(id) else { return }
            var flags = try flags(of: account, in: tx)
            if let moment = times.createdAt {
                try tx.execute("UPDATE account SET created_at = $2 WHERE id = $1", id, moment)
                flags["createdAt"] = .number(JSONNumber(moment))
            }
            if let moment = times.lastSignInAt {
                try tx.execute("UPDATE account SET last_sign_in_at = $2 WHERE id = $1", id, moment)
                flags["importedSignInAt"] = .number(JSONNumber(moment))
            }
            try tx.setVendorRecord(tenantId, Self.flags, id, value: flags)
        }
    }

    /// The age at which anonymous users are deleted if the project has this setting, in seconds.
    private static let anonymousLifetime: Int64 = 30 * 86_400

    /// Deletes some of the anonymous users of the project that are older than 30 days, if it has `autodeleteAnonymousUsers`. Called when
    /// an anonymous user is created, so that they do not pile up.
    func deleteOldAnonymousUsers() throws {
        let scope = project
        let isOn = try context.database.read { try $0.vendorRecord(scope, "config", "project")?["autodeleteAnonymousUsers"] == true }
        guard isOn else { return }
        let (tenantId, latest) = (tenantId, now - Self.anonymousLifetime)
        let old = try context.database.read { tx in
            try tx.query(
                """
                SELECT id FROM account WHERE tenant_id = $1 AND method = $2 AND created_at < $3 AND username IS NULL AND password IS NULL
                ORDER BY id LIMIT 20
                """, tenantId, AccountRecord.Method.anonymous.rawValue, latest
            ) { $0.string(0) }
        }
        for id in old {
            guard let facts = try facts(id), facts.logins.isEmpty, facts.phoneNumber == nil else { continue }
            if try context.database.read({ try self.flags(of: facts.account, in: $0) })["customAuth"] == true { continue }
            _ = try service.account.delete(AccountDelete.Params(accountId: id), call)
            try context.database.write { _ = try $0.deleteVendorRecord(tenantId, Self.flags, id) }
        }
    }
}

extension FirebaseInput {
    /// The time of a member in the format of RFC 3339, in seconds since 1970-01-01 UTC; `nil` if it is missing.
    ///
    /// - Throws: `FirebaseError` if it is not a time in UTC.
    func time(_ name: String) throws -> Int64? {
        guard let text = try filled(name) else { return nil }
        guard let seconds = Self.seconds(text) else {
            throw FirebaseError.payload("Invalid value at '\(name)' (Timestamp), such as 2024-01-31T12:00:00Z.")
        }
        return seconds
    }

    private static func seconds(_ text: String) -> Int64? {
        guard text.utf8.count >= 20, text.hasSuffix("Z") || text.hasSuffix("z") else { return nil }
        let bytes = Array(text.utf8)
        func number(_ range: Range<Int>) -> Int64? {
            let digits = bytes[range]
            guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
        }
        let marks: [(Int, String)] = [(4, "-"), (7, "-"), (10, "Tt"), (13, ":"), (16, ":")]
        guard marks.allSatisfy({ $0.1.utf8.contains(bytes[$0.0]) }) else { return nil }
        let fraction = bytes[19..<(bytes.count - 1)]
        let isFraction = fraction.first == 0x2E && fraction.count > 1 && fraction.dropFirst().allSatisfy { (0x30...0x39).contains($0) }
        guard fraction.isEmpty || isFraction, let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
            let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19), (1...12).contains(month),
            (1...31).contains(day), hour < 24, minute < 60, second < 61
        else { return nil }
        // The days since 1970 in the proleptic Gregorian calendar, with years that begin in March.
        let years = month > 2 ? year : year - 1
        let ofYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let days = years * 365 + years / 4 - years / 100 + years / 400 + ofYear - 719_468
        return days * 86_400 + hour * 3600 + minute * 60 + second
    }
}
