import CPostgres

/// What went wrong in PostgreSQL, and what can be done about it.
struct PostgresFailure: Error {
    enum Remedy {
        /// The connection is gone. What was not committed is undone.
        case connectAnew
        /// Others were in the way; the same may succeed when it is begun anew.
        case repeatSoon
        /// A row that was not there when it was looked for is there now, or the other way round; whoever looks again decides otherwise.
        case lookAgain
        case none
    }

    let remedy: Remedy
    /// What it means for a store.
    let error: StoreError

    /// - Parameters:
    ///   - state: the SQLSTATE (PostgreSQL documentation, appendix A), nil if no server answered.
    ///   - reason: what the server or libpq said.
    init(state: String?, reason: String, isConnected: Bool, address: PostgresAddress) {
        let path = address.description
        let code = state ?? ""
        func result(_ remedy: Remedy, _ error: StoreError) -> (Remedy, StoreError) { (remedy, error) }
        (remedy, error) =
            switch code {
            // Shut down by an administrator, crashed, ended for idling or by a time limit of the session.
            case "57P01", "57P02", "57P05", "25P03", "25P04": result(.connectAnew, .busy)
            // Starting or shutting down; too many connections.
            case "57P03", "53300": result(isConnected ? .connectAnew : .repeatSoon, .busy)
            case "40001", "40P01": result(.repeatSoon, .busy)
            case "23505", "23503": result(.lookAgain, .failed(reason: "\(reason) (PostgreSQL \(code))"))
            // A lock was not free in time, a statement took too long.
            case "55P03", "57014": result(.none, .busy)
            case "53100", "53400": result(.none, .full)
            case "25006": result(.none, .readOnly(reason: reason))
            case "42501" where isConnected: result(.none, .readOnly(reason: reason))
            case "3D000": result(.none, .cannotOpen(path: path, reason: "\(reason); create the database first (createdb)"))
            case "XX001", "XX002", "58030": result(.none, .corrupt(reason: "\(reason) (PostgreSQL \(code))"))
            case _ where !isConnected:
                result(.none, code.isEmpty ? .unreachable(path: path, reason: reason) : .cannotOpen(path: path, reason: reason))
            case _ where code.isEmpty || code.hasPrefix("08"): result(.connectAnew, .unreachable(path: path, reason: reason))
            default: result(.none, .failed(reason: "\(reason) (PostgreSQL \(code))"))
            }
    }

    init(_ remedy: Remedy, _ error: StoreError) {
        self.remedy = remedy
        self.error = error
    }

    /// Why there is no connection.
    static func connecting(_ message: String, _ address: PostgresAddress) -> PostgresFailure {
        // libpq's second line asks whether the server is running; that it does not answer is said.
        let lines = message.split(separator: "\n").filter { !$0.hasPrefix("LOCATION: ") && !$0.hasPrefix("\t") }
        let text = lines.joined(separator: "; ")
        guard let (state, start) = sqlState(in: text) else {
            return PostgresFailure(state: nil, reason: text.isEmpty ? "no response" : text, isConnected: false, address: address)
        }
        return PostgresFailure(state: state, reason: String(text[start...]), isConnected: false, address: address)
    }

    /// In verbose messages `FATAL:  3D000: database "x" does not exist`.
    private static func sqlState(in text: String) -> (String, String.Index)? {
        var from = text.startIndex
        while let mark = text[from...].firstRange(of: ":  ") {
            let code = text[mark.upperBound...].prefix(5)
            if code.utf8.count == 5, code.allSatisfy({ $0.isASCII && ($0.isNumber || $0.isUppercase) }),
                text[code.endIndex...].hasPrefix(": ")
            {
                return (String(code), text.index(code.endIndex, offsetBy: 2))
            }
            from = mark.upperBound
        }
        return nil
    }
}
