import ArgumentParser
import Contract
import JSON
import Mintmark

/// `mintmark jwks`
struct JwksCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jwks", abstract: "Print the public keys, or keep a published copy of them current.",
        discussion: """
            --issuer with a pool's issuer takes that pool's keys alone; otherwise there are all keys of the store.

            With --watch the file is written anew, under another name and then renamed, whenever the keys have changed and when the next
            one begins to sign or an old one is no longer needed; it goes on until SIGTERM. It does not ask the store again and again:
            the kernel says when somebody has written to a SQLite store (inotify on its log), and what was written is looked at once
            a second at most. PostgreSQL is asked once a second.

              mintmark jwks --store shop.db --watch /srv/www/.well-known/jwks.json
            """)

    @OptionGroup var options: StoreOptions

    @Option(help: ArgumentHelp("Keep this file current.", valueName: "file"), completion: .file())
    var watch: String?

    func run() throws {
        var settings = options.settings
        let issuer = settings.issuer.flatMap { $0.contains("/pools/") ? $0 : nil }
        // The base of a pool's issuer is what stands before its own part.
        if let issuer, let range = issuer.firstRange(of: "/pools/") { settings.issuer = String(issuer[..<range.lowerBound]) }
        var configuration = try settings.configuration()
        // A file that was misspelt would be a new store, and its empty key set take the place of a good one.
        configuration.makesStores = false
        let mintmark = Mintmark(configuration)
        do {
            guard let watch = watch ?? Environment["WATCH"] else {
                defer { mintmark.close() }
                return try Printing.out(
                    KeySetFile.text(of: mintmark.services().token.jwks(TokenJwks.Params(issuer: issuer), OwnCall())))
            }
            try JwksWatch(mintmark, issuer: issuer, file: KeySetFile(path: watch)).run()
        } catch { throw Printing.failure(error) }
    }
}
