import Contract
import Glibc
import JSON

/// The file to which the heads of the audit log are appended, one line per entry in the format of the `audit.verify` parameters. It makes
/// truncation of the log detectable if users who can write to the store cannot write to the file.
public struct AuditHeadsFile: Sendable {
    private let path: String

    public init(_ path: String) { self.path = path }

    /// Creates the file if it does not exist.
    ///
    /// - Throws: `OpenedTraceFile.Unusable` if this user cannot append to the file, or other users can.
    public func check() throws(OpenedTraceFile.Unusable) {
        close(try OpenedTraceFile(path: path).descriptor)
    }

    /// - Throws: `OpenedTraceFile.Unusable` if the file cannot be written.
    func append(_ heads: [Contract.AuditHead]) throws(OpenedTraceFile.Unusable) {
        let list = heads.map { head -> JSONValue in
            ["chain": .string(head.chain), "records": .number(JSONNumber(head.records)), "head": .string(head.head)]
        }
        let line = JSONValue.object(["heads": .array(list)]).bytes + [UInt8(ascii: "\n")]
        let descriptor = try OpenedTraceFile(path: path).descriptor
        defer { close(descriptor) }
        // Several processes may append, so each line is a single write.
        let count = line.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        guard count == line.count else {
            throw OpenedTraceFile.Unusable(reason: "cannot be written (\(count < 0 ? String(cString: strerror(errno)) : "no space"))")
        }
    }
}
