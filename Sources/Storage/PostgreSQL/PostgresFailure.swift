import CPostgres

/// An error in PostgreSQL and its remedy.
struct PostgresFailure: Error {
    enum Remedy {
        /// The connection is lost. Uncommitted changes are rolled back.
        case connectAnew
        /// A conflict with other transactions; repeating the transaction can succeed.
        case repeatSoon
        /// A row was inserted or deleted after it was read. If the transaction runs again, its decision changes.
        case lookAgain
        case none
    }

    let remedy: Remedy
    /// The corresponding error of the store.
    let error: StoreError

    /// - Parameters:
    ///   - state: The SQLSTATE (PostgreSQL documentation, appendix A), or `nil` if no server responded.
    ///   - reason: The message of the server or of libpq.
    init(state: String?, reason: String, isConnected: Bool, address: PostgresAddress) {
        let path = address.description
        let code = state ?? ""
        func result(_ remedy: Remedy, _ error: StoreError) -> (Remedy, StoreError) { (remedy, error) }
        (remedy, error) =
            switch code {
            // Shutdown by an administrator, crash, idle timeout or session time limit.
            case "57P01", "57P02", "57P05", "25P03", "25P04": result(.connectAnew, .busy)
            // The server is starting or shutting down, or has too many connections.
            case "57P03", "53300": result(isConnected ? .connectAnew : .repeatSoon, .busy)
            case "40001", "40P01": result(.repeatSoon, .busy)
            case "23505", "23503": result(.lookAgain, .failed(reason: "\(reason) (PostgreSQL \(code))"))
            // A lock timeout or a statement timeout.
            case "55P03", "57014": result(.none, .busy)
            case "53100", "53400": result(.none, .full)
            case "25006": result(.none, .readOnly(reason: reason))
            case "42501" where isConnected: result(.none, .readOnly(reason: reason))
            case "3D000": result(.none, .cannotOpen(path: path, reason: "\(reason); create the database first (createdb)"))
            case "XX001", "XX002", "58030": result(.none, .corrupt(reason: "\(reason) (PostgreSQL \(code))"))
            case _ where !isConnected:
                result(
                    .none,
                    // A pooler reports with class 08 that it cannot reach its server, or that it has no place for another client.
                    code.isEmpty || code.hasPrefix("08")
                        ? .unreachable(path: path, reason: reason) : .cannotOpen(path: path, reason: reason))
            case _ where code.isEmpty || code.hasPrefix("08"): result(.connectAnew, .unreachable(path: path, reason: reason))
            default: result(.none, .failed(reason: "\(reason) (PostgreSQL \(code))"))
            }
    }

    init(_ remedy: Remedy, _ error: StoreError) {
        self.remedy = remedy
        self.error = error
    }

    /// Returns the failure of an attempt to connect.
    static func connecting(_ message: String, _ address: PostgresAddress) -> PostgresFailure {
        // libpq's second line asks whether the server is running. It adds nothing to the error.
        let lines = message.split(separator: "\n").filter { !$0.hasPrefix("LOCATION: ") && !$0.hasPrefix("\t") }
        let text = lines.joined(separator: "; ")
        guard let (state, start) = sqlState(in: text) else {
            return PostgresFailure(state: nil, reason: text.isEmpty ? "no response" : text, isConnected: false, address: address)
        }
        return PostgresFailure(state: state, reason: String(text[start...]), isConnected: false, address: address)
    }

    /// Finds the SQLSTATE in verbose messages such as `FATAL:  3D000: database "x" does not exist`.
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
