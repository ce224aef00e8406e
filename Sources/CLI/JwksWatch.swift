import Contract
import Glibc
import JSONRPC
import Mintmark
import ServiceContext

/// Keeps a published key set current until a signal ends it.
struct JwksWatch {
    private let mintmark: Mintmark
    private let issuer: String?
    private let file: KeySetFile

    init(_ mintmark: Mintmark, issuer: String?, file: KeySetFile) {
        self.mintmark = mintmark
        self.issuer = issuer
        self.file = file
    }

    /// - Throws: what is wrong at the beginning; afterwards it is said on standard error, and tried again.
    func run() throws {
        let changes = try StoreChanges(of: mintmark.configuration.store)
        Signals.take { changes.end() }
        var next = try publish(isFirst: true)
        // Only now is the log there that is watched. What was written since the first look is seen by the second.
        changes.begin()
        repeat {
            do { next = try publish(isFirst: false) } catch {
                Printing.err("\(Printing.reason(error)) Trying again.")
                next = nil
            }
        } while changes.wait(seconds: next.map { max($0 - now, 0) })
        mintmark.close()
    }

    private var now: Int64 { (try? mintmark.services().surroundings.clock.now) ?? 0 }

    /// Writes the file if it says anything else.
    ///
    /// - Returns: when the keys change next, as far as is known.
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
            // Nobody is to trust the keys of a pool that was deleted.
            if isFirst { throw error }
            return TokenJwks.Result(keys: [])
        }
    }
}
