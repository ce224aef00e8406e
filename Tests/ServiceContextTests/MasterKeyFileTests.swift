import Contract
import Crypto
import Glibc
import Testing

@testable import ServiceContext

/// A temporary directory with key files. It is removed with this object.
private final class Folder {
    let path: String
    var file: MasterKeyFile { MasterKeyFile(path: path + "/store.db.key") }

    init() {
        var template = Array("/tmp/mintmark-keys-XXXXXX".utf8CString)
        mkdtemp(&template)
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for name in names { unlink("\(path)/\(name)") }
        rmdir(path)
    }

    var names: [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}

@Suite("the master key file of a store")
struct MasterKeyFileTests {
    private let folder = Folder()
    private let next = MasterKey.generate(SystemRandom())

    @Test("a new key is stored next to the old one and replaces it after the store was encrypted with it")
    func replaced() throws {
        let old = try folder.file.create(SystemRandom())
        try folder.file.prepare(next, "draft")
        #expect(try folder.file.read()?.fingerprint == old.fingerprint)
        #expect(folder.names == ["store.db.key", "store.db.key.\(next.fingerprint).new"])
        #expect(folder.file.settle(on: next.fingerprint, abandoned: next.fingerprint) == folder.file.path)
        #expect(try folder.file.read()?.fingerprint == next.fingerprint)
        // The former key is kept for earlier backups.
        #expect(folder.names == ["store.db.key", "store.db.key.\(old.fingerprint)"])
    }

    @Test("after an interruption, the key with the fingerprint of the store is used")
    func killed() throws {
        let old = try folder.file.create(SystemRandom())
        try folder.file.prepare(next, "draft")
        #expect(try folder.file.read(preferring: old.fingerprint)?.fingerprint == old.fingerprint)
        #expect(try folder.file.read(preferring: next.fingerprint)?.fingerprint == next.fingerprint)
        #expect(try folder.file.read(preferring: "000000000000")?.fingerprint == old.fingerprint)
    }

    @Test("a process whose key change was superseded removes only its own prepared key")
    func overtaken() throws {
        let old = try folder.file.create(SystemRandom())
        let mine = MasterKey.generate(SystemRandom())
        try folder.file.prepare(mine, "a")
        try folder.file.prepare(next, "b")
        // Another process has encrypted the store with its own key in the meantime.
        #expect(folder.file.settle(on: next.fingerprint, abandoned: mine.fingerprint) == folder.file.path)
        #expect(try folder.file.read()?.fingerprint == next.fingerprint)
        #expect(folder.names == ["store.db.key", "store.db.key.\(old.fingerprint)"])
        #expect(folder.file.settle(on: next.fingerprint, abandoned: mine.fingerprint) == folder.file.path)
        #expect(try folder.file.read()?.fingerprint == next.fingerprint)
    }

    @Test("a store restored with the key in the file keeps that key")
    func back() throws {
        let old = try folder.file.create(SystemRandom())
        try folder.file.prepare(next, "a")
        #expect(folder.file.settle(on: old.fingerprint, abandoned: next.fingerprint) == folder.file.path)
        #expect(try folder.file.read()?.fingerprint == old.fingerprint)
        #expect(folder.names == ["store.db.key"])
    }

    @Test("if the file cannot be written, the key change fails before it begins")
    func unwritable() {
        #expect(throws: StoreCannotOpen.self) { try MasterKeyFile(path: folder.path + "/missing/store.db.key").prepare(next, "a") }
    }
}
