import Accounts

/// The names that accounts go by, with the lines they were seen in, so that a file that has one twice is told so. After a million it forgets
/// them: what stands farther apart is found by the store, as somebody else's.
struct ImportedNames {
    private static let most = 1_000_000

    /// Names by 64 bits of them: among a million the chance that any two meet is one in thirty million.
    private var lines: [Int: Int64] = [:]

    /// To be called between two transactions: in one no name may come twice.
    mutating func makeRoom() { if lines.count >= Self.most { lines.removeAll() } }

    /// Notes the names of an account.
    ///
    /// - Returns: which of them stood in an earlier line: a pointer to it, and that line.
    mutating func note(_ draft: ImportDraft) -> [(pointer: String, line: Int64)] {
        var names: [(pointer: String, key: Int)] = []
        if draft.hasOwnId { names.append(("/accountId", Self.key("id", draft.account.id))) }
        if let address = draft.address { names.append(("/email", Self.key("address", address))) }
        for login in draft.logins {
            names.append(("/providers/\(login.place)", Self.key(login.record.providerId, login.record.subject)))
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
