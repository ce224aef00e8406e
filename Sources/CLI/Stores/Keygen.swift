import Arguments
import Crypto
import Glibc
import ServiceContext

/// `mintmark keygen`
struct Keygen: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Generate a master key.",
        discussion: """
            A master key is 32 random bytes in base64url. It encrypts the data key of a store, and the store cannot be opened without it. \
            The \
            fingerprint, which stores and backups name, is printed to standard error.

              mintmark keygen --output shop.key
              mintmark serve --store postgres://shop@db/shop --master-key-file shop.key
            """)

    @Option(
        help: ArgumentHelp("The path of a new file for the key, which only this user can read.", valueName: "file"), completion: .file())
    var output: String?

    func run() throws {
        OpenSSLRuntime.start()
        let key = MasterKey.generate(SystemRandom())
        if let output { try write(key, to: output) } else { try Printing.out(key.text) }
        Printing.err("fingerprint \(key.fingerprint)")
    }

    private func write(_ key: MasterKey, to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let code = errno
            let reason = code == EEXIST ? "the file exists and was not changed. Use another path" : String(cString: strerror(code))
            Printing.err("\(Printing.errorWord) \(path): \(reason).")
            throw ExitCode(code == EEXIST ? 1 : 74)
        }
        defer { close(descriptor) }
        let text = Array((key.text + "\n").utf8)
        guard Glibc.write(descriptor, text, text.count) == text.count, fsync(descriptor) == 0 else {
            let reason = String(cString: strerror(errno))
            unlink(path)
            Printing.err("\(Printing.errorWord) \(path): the key cannot be written: \(reason).")
            throw ExitCode(74)
        }
    }
}
