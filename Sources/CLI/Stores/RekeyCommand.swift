import Arguments
import Contract
import JSON
import Mintmark
import ServiceContext

/// `mintmark rekey`
struct RekeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rekey", abstract: "Encrypt the store's data key with a new master key.",
        discussion: """
            The former key stays next to the store as <store>.key.<fingerprint>, because earlier backups need it. If the key of the \
            store was \
            given to the processes, the new key must be given with --new-master-key-file, and is not written.

              mintmark rekey --store shop.db
              mintmark rekey --store postgres://shop@db/shop --master-key-file old.key \\
                --new-master-key-file new.key
            """)

    @OptionGroup(title: "Store") var options: StoreOptions

    @Option(
        help: ArgumentHelp("The path of a file with the new master key. (default: a new key in <store>.key)", valueName: "path"),
        completion: .file())
    var newMasterKeyFile: String?

    @OptionGroup var progress: ProgressOption

    func run() throws {
        let style = try progress.style()
        var configuration = try options.settings.configuration()
        configuration.makesStores = false
        let mintmark = Mintmark(configuration)
        defer { mintmark.close() }
        // The new key is written in one step, which can wait for the transactions of other processes.
        let bar = ProgressBar("Writing the new key", unit: "", style: style)
        defer { bar.finish() }
        bar.tick()
        do {
            let key = try newMasterKeyFile.map { try MasterKeyFile(path: $0, source: "--new-master-key-file").readGiven().text }
            let result = try mintmark.services().store.rekey(StoreRekey.Params(newMasterKey: key), OwnCall())
            bar.finish()
            var writer = JSONWriter(reservingCapacity: 512)
            result.write(to: &writer)
            try Printing.out(String(decoding: writer.bytes, as: UTF8.self))
            guard configuration.keyFile == nil else { return }
            Printing.err(
                """
                Start every process on this store with the new key. Keep the old key, \(result.previousFingerprint): \
                earlier backups need it.
                """)
        } catch {
            bar.finish()
            throw Printing.failure(error)
        }
    }
}
