import Contract
import JSON
import Platform

/// Reads the accounts of an import from a file or a list, in chunks.
struct ImportSource {
    /// An account with its line number, or the violations of the line.
    struct Entry {
        let line: Int64
        let content: Result<PortableAccount, LineFlaw>
    }

    /// The violations of a line that could not be decoded as an account.
    struct LineFlaw: Error {
        var accountId: String?
        let violations: [Violation]
    }

    private enum Kind {
        case file(LineFile, path: String, AccountImport.Params.Format)
        case list([PortableAccount])
    }

    static let longestLine = 1 << 20
    /// The number of accounts per transaction. It limits the time for which other writers wait.
    static let chunkCount = 200
    private static let chunkBytes = 1 << 20

    private let kind: Kind
    /// The number of the first line that was not read.
    private(set) var nextLine: Int64 = 1

    /// - Throws: `ImportFileUnreadable`.
    /// Whether the tenant has an attribute `phoneNumber`, for users of Firebase.
    var hasNumberAttribute = true

    init(_ source: AccountImport.Params.Source, _ format: AccountImport.Params.Format, from line: Int64) throws {
        switch source {
        case .accounts(let accounts):
            kind = .list(accounts)
            nextLine = min(line, Int64(accounts.count) + 1)
        case .file(let path):
            do { kind = .file(try LineFile(path, longestLine: Self.longestLine), path: path, format) } catch {
                throw ImportFileUnreadable(path: path, reason: error.reason)
            }
            while nextLine < line, try read() != nil {}
        }
    }

    /// Returns the next accounts, or `nil` at the end.
    ///
    /// - Throws: `ImportFileUnreadable`.
    mutating func chunk() throws -> [Entry]? {
        switch kind {
        case .list(let accounts):
            let first = Int(nextLine)
            let part = accounts[(first - 1)...].prefix(Self.chunkCount)
            nextLine += Int64(part.count)
            return part.isEmpty ? nil : part.enumerated().map { Entry(line: Int64(first + $0), content: .success($1)) }
        case .file(_, _, let format):
            var (entries, bytes): ([Entry], Int) = ([], 0)
            let first = nextLine
            while entries.count < Self.chunkCount, bytes < Self.chunkBytes, let line = try read() {
                let number = nextLine - 1
                switch line {
                case .tooLong:
                    let flaw = Violation(
                        pointer: "", rule: "maxLength",
                        message: "The line has more than \(Self.longestLine) bytes, the maximum for one account.")
                    entries.append(Entry(line: number, content: .failure(LineFlaw(violations: [flaw]))))
                case .text(let text):
                    bytes += text.count
                    if text.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) { continue }
                    entries.append(Entry(line: number, content: account(text, format)))
                }
            }
            return nextLine == first ? nil : entries
        }
    }

    private mutating func read() throws -> LineFile.Line? {
        guard case .file(let file, let path, _) = kind else { return nil }
        do {
            guard var line = try file.next() else { return nil }
            // Skip the byte order mark that some editors write at the beginning.
            if nextLine == 1, case .text(let text) = line, text.starts(with: [0xEF, 0xBB, 0xBF]) { line = .text(Array(text.dropFirst(3))) }
            nextLine += 1
            return line
        } catch { throw ImportFileUnreadable(path: path, reason: error.reason) }
    }

    private func account(_ text: [UInt8], _ format: AccountImport.Params.Format) -> Result<PortableAccount, LineFlaw> {
        do {
            var node = try JSONText(text).root
            if format == .firebase {
                node = try JSONText(JSONValue.object(FirebaseUser(node, hasNumberAttribute: hasNumberAttribute).portable).bytes).root
            }
            do { return .success(try PortableAccount(decoding: node)) } catch {
                return .failure(LineFlaw(accountId: node["accountId"]?.string, violations: error.violations))
            }
        } catch {
            let message = "The line is not an account in JSON: \(error.reason.rawValue), at byte \(error.offset)."
            return .failure(LineFlaw(violations: [Violation(pointer: "", rule: "malformed", message: message)]))
        }
    }
}
