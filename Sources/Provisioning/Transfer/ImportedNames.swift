import Accounts

/// Records the IDs, addresses and logins of imported accounts with their line numbers, to report duplicates in a file. The records are
/// cleared after a million entries. A more distant duplicate is reported as a conflict with a stored account.
struct ImportedNames {
    private static let most = 1_000_000

    /// Line numbers by a 64-bit hash of the name. Among a million names, the probability of any collision is about 1 in 30 million.
    private var lines: [Int: Int64] = [:]

    /// Clears the records if they are full. Must be called between two transactions, because a name must not occur twice within one.
    mutating func makeRoom() { if lines.count >= Self.most { lines.removeAll() } }

    /// Records the names of an account.
    ///
    /// - Returns: The names that occurred in an earlier line: a JSON pointer to the name, and the number of that line.
    mutating func note(_ draft: ImportDraft) -> [(pointer: String, line: Int64)] {
        var names: [(pointer: String, key: Int)] = []
        if draft.hasOwnId { names.append(("/accountId", Self.key("id", draft.account.id))) }
        if let address = draft.address { names.append(("/email", Self.key("address", address))) }
        if let number = draft.phoneNumber { names.append(("/phoneNumber", Self.key("phone", number))) }
        for login in draft.logins {
            names.append(("/providers/\(login.place)", Self.key(login.record.providerId, login.record.subject)))
        }
        for (place, passkey) in draft.passkeys.enumerated() {
            names.append(("/passkeys/\(place)/credentialId", Self.key("passkey", passkey.id)))
        }
        let seen = names.compactMap { name in lines[name.key].map { (name.pointer, $0) } }
        if seen.isEmpty { for name in names { lines[name.key] = draft.line } }
        return seen
    }

    private static func key(_ kind: String, _ name: String) -> Int {
        var hasher = Hasher()
        for text in [kind, name] {
            hasher.combine(text.utf8.count)
            for byte in text.utf8 { hasher.combine(byte) }
        }
        return hasher.finalize()
    }
}
