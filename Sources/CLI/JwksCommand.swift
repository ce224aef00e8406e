import Arguments
import Contract
import JSON
import Mintmark
import ServiceContext
import Platform

/// `mintmark jwks`
struct JwksCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jwks", abstract: "Print the public keys, or keep a published copy of them up to date.",
        discussion: """
            If --issuer is the issuer of a pool, only the keys of that pool are printed. Otherwise all keys of the store are printed.

            With --watch, the file is replaced atomically whenever the key set changes, until SIGTERM: when a key is added, becomes active
            or is removed. Changes of a SQLite store are detected by inotify, without polling, and processed at most once per second.
            PostgreSQL is queried once per second.

              mintmark jwks --store shop.db --watch /srv/www/.well-known/jwks.json
            """)

    @OptionGroup(title: "Store") var options: StoreOptions

    @Option(help: ArgumentHelp("The file to keep up to date.", valueName: "file"), completion: .file())
    var watch: String?

    func run() throws {
        var settings = options.settings
        let issuer = settings.issuer.flatMap { $0.includes("/pools/") ? $0 : nil }
        // The base URL is the part of a pool's issuer before `/pools/`.
        if let issuer, let range = issuer.firstRange(of: "/pools/") { settings.issuer = String(issuer[..<range.lowerBound]) }
        var configuration = try settings.configuration()
        // Otherwise a mistyped path would create a new store, and its empty key set would replace a valid one.
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
