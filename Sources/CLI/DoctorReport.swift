import Arguments
import Contract
import JSON
import Mintmark

/// The findings of `mintmark doctor`. As text, each is printed immediately; as JSON, all are printed at the end.
struct DoctorReport {
    /// The subject of a check. The raw value is part of the JSON.
    enum Check: String, CaseIterable {
        case options, program, store, fileModes, writable, masterKey, formerKeys, backups, pages, tenantNames, assurance, patterns, auditLog
        case authenticatorMetadata, trustPolicies, libcurl, emails, textMessages
    }

    let isJSON: Bool
    private var isWell = true
    private var findings: [JSONValue] = []

    init(isJSON: Bool) { self.isJSON = isJSON }

    mutating func add(_ check: Check, _ isGood: Bool, _ message: String) throws {
        isWell = isWell && isGood
        try append(message, of: check, status: isGood ? "ok" : "problem", sign: isGood ? Printing.green("ok") : Printing.red("!!"))
    }

    /// Adds an error as a problem. The type of the error precedes the message in text, and is a separate member in JSON.
    mutating func add(_ check: Check, failure error: any Error) throws {
        guard let known = contractError(error) else { return try add(check, false, Printing.reason(error)) }
        isWell = false
        try append(known.message, of: check, status: "problem", sign: Printing.red("!!"), type: type(of: known).type)
    }

    /// Adds what is neither good nor a problem.
    mutating func note(_ check: Check, _ message: String) throws { try append(message, of: check, status: "note", sign: "--") }

    private mutating func append(_ message: String, of check: Check, status: String, sign: String, type: String? = nil) throws {
        guard isJSON else { return try Printing.out("\(sign)  \(type.map { "\($0): " } ?? "")\(message)") }
        var finding: JSONObject = ["check": .string(check.rawValue), "status": .string(status), "message": .string(message)]
        finding["type"] = type.map { .string($0) }
        findings.append(.object(finding))
    }

    /// - Throws: `ExitCode` 2 if a problem was found.
    func finish() throws {
        if isJSON {
            let result: JSONValue = ["ok": .bool(isWell), "version": .string(Mintmark.version), "findings": .array(findings)]
            try Printing.out(result.text)
        }
        if !isWell { throw ExitCode(2) }
    }
}
