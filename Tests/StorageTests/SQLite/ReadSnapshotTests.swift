import Platform
import Storage
import Testing

@Suite("Reads that share one snapshot")
struct SharedReadsTests {
    @Test("changes of other threads are not visible until the snapshot ends")
    func oneView() throws {
        let database = try Backend.file.open()
        try ReadSnapshot.during {
            #expect(try database.count() == 0)
            try together(1) { _ in try database.insert("a") }
            #expect(try database.count() == 0)
        }
        #expect(try database.count() == 1)
        try ReadSnapshot.during { () throws in #expect(try database.count() == 1) }
    }

    @Test("a write of the same thread ends the snapshot, and later reads see the write", arguments: Backend.all)
    func ownWrite(_ backend: Backend) throws {
        let database = try backend.open()
        try ReadSnapshot.during {
            #expect(try database.count() == 0)
            try database.insert("a")
            #expect(try database.has("a"))
        }
    }

    @Test("a failed read does not end the snapshot", arguments: Backend.all)
    func failure(_ backend: Backend) throws {
        let database = try backend.open()
        try ReadSnapshot.during { () throws in
            #expect(throws: Refused.self) { try database.read { _ in throw Refused() } }
            #expect(throws: StoreError.self) { try database.read { try $0.query("SELECT nothing FROM nowhere") { $0.int(0) } } }
            #expect(try database.count() == 0)
        }
        try database.insert("a")
        #expect(try database.count() == 1)
    }

    @Test("stores do not share a snapshot, and neither remains locked", arguments: Backend.all)
    func twoStores(_ backend: Backend) throws {
        let (one, other) = (try backend.open(), try backend.open())
        try one.insert("a")
        try ReadSnapshot.during { () throws in
            #expect(try one.count() == 1)
            #expect(try other.count() == 0)
            #expect(try one.count() == 1)
        }
        try together(2) { _ in
            try one.write { _ = try $0.execute("DELETE FROM item") }
            try other.write { _ = try $0.execute("DELETE FROM item") }
        }
        #expect(try one.count() == 0)
    }

    @Test("the epoch is read from the snapshot", arguments: Backend.all)
    func epoch(_ backend: Backend) throws {
        let database = try backend.open()
        let before = try database.read { try $0.epoch }
        try ReadSnapshot.during {
            #expect(try database.read { try $0.epoch } == before)
            try database.write { try $0.advanceEpoch() }
            #expect(try database.read { try $0.epoch } > before)
        }
        #expect(try database.read { try $0.epoch } > before)
    }
}
