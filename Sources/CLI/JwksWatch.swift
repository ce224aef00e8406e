import Contract
import Glibc
import JSONRPC
import Mintmark
import ServiceContext

/// Keeps a published key set up to date until a signal ends it.
struct JwksWatch {
    private let mintmark: Mintmark
    private let issuer: String?
    private let file: KeySetFile

    init(_ mintmark: Mintmark, issuer: String?, file: KeySetFile) {
        self.mintmark = mintmark
        self.issuer = issuer
        self.file = file
    }

    /// - Throws: An error of the first attempt. Later errors are printed to standard error, and the attempt is repeated.
    func run() throws {
        let changes = try StoreChanges(of: mintmark.configuration.store)
        Signals.take { changes.end() }
        var next = try publish(isFirst: true)
        // The log file exists only after the store was opened. The second read covers writes since the first one.
        changes.begin()
        repeat {
            do { next = try publish(isFirst: false) } catch {
                Printing.err("\(Printing.reason(error)) Trying again.")
                next = nil
            }
        } while changes.wait(seconds: next.map { max($0 - now, 0) })
        mintmark.close()
    }

    private var now: Int64 { (try? mintmark.services().context.clock.now) ?? 0 }

    /// Writes the file if its content has changed.
    ///
    /// - Returns: The time of the next change of the keys, if known.
    private func publish(isFirst: Bool) throws -> Int64? {
        let keys = try current(isFirst: isFirst)
        let text = KeySetFile.text(of: keys)
        if !file.holds(text) {
            try file.write(text)
            Printing.err("\(file.path): \(keys.keys.count) \(keys.keys.count == 1 ? "key" : "keys")")
        }
        return keys.nextChangeAt
    }

    private func current(isFirst: Bool) throws -> TokenJwks.Result {
        do { return try mintmark.services().token.jwks(TokenJwks.Params(issuer: issuer), OwnCall()) } catch let error as IssuerNotFound {
            // The keys of a deleted pool must no longer be trusted.
            if isFirst { throw error }
            return TokenJwks.Result(keys: [])
        }
    }
}
