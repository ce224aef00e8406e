import ArgumentParser
import Contract
import Mintmark

/// `mintmark backup`
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Write a copy of the store while it is in use.",
        discussion: """
            The copy is a store of its own, as the store was at one moment. It never takes the place of a file, and opens with the master
            key whose fingerprint is printed: keep that key, too, and elsewhere. PostgreSQL stores are backed up with pg_dump.

              mintmark backup --store shop.db /backups/shop-monday.db
              mintmark doctor --store /backups/shop-monday.db --master-key-file shop.db.key
            """)

    @OptionGroup var options: StoreOptions

    @Argument(help: "The file to be made, in a folder that is there.", completion: .file())
    var path: String

    func run() throws {
        var configuration = try options.settings.configuration()
        configuration.makesStores = false
        let mintmark = Mintmark(configuration)
        defer { mintmark.close() }
        do {
            let copy = try mintmark.services().store.backup(StoreBackup.Params(path: path), OwnCall())
            try Printing.out("\(copy.path): \(copy.bytes) bytes, opens with the master key \(copy.masterFingerprint)")
        } catch { throw Printing.failure(error) }
    }
}
