import Platform
import Storage
import Testing

@Suite("Reads that share one view")
struct SharedViewTests {
    @Test("changes of other threads are not visible until the view ends")
    func oneView() throws {
        let store = try Backend.file.open()
        try sharing(store) { (database) throws in
            #expect(try database.count() == 0)
            try together(1) { _ in try store.insert("a") }
            #expect(try database.count() == 0)
        }
        #expect(try store.count() == 1)
        try sharing(store) { (database) throws in #expect(try database.count() == 1) }
    }

    @Test("a write of the same thread ends the view, and later reads see the write", arguments: Backend.all)
    func ownWrite(_ backend: Backend) throws {
        let database = try backend.open()
        try sharing(database) { (database) throws in
            #expect(try database.count() == 0)
            try database.insert("a")
            #expect(try database.has("a"))
        }
    }

    @Test("a failed read does not end the view", arguments: Backend.all)
    func failure(_ backend: Backend) throws {
        let database = try backend.open()
        try sharing(database) { (database) throws in
            #expect(throws: Refused.self) { try database.read { _ in throw Refused() } }
            #expect(throws: StoreError.self) { try database.read { try $0.query("SELECT nothing FROM nowhere") { $0.int(0) } } }
            #expect(try database.count() == 0)
        }
        try database.insert("a")
        #expect(try database.count() == 1)
    }

    @Test("stores do not share a view, and neither remains locked", arguments: Backend.all)
    func twoStores(_ backend: Backend) throws {
        let (one, other) = (try backend.open(), try backend.open())
        try one.insert("a")
        let view = SharedView()
        do {
            let one = StoreHandle(one, StoreAccess(.allowed, view: view))
            let other = StoreHandle(other, StoreAccess(.allowed, view: view))
            #expect(try one.count() == 1)
            #expect(try other.count() == 0)
            #expect(try one.count() == 1)
        }
        view.end()
        try together(2) { _ in
            try one.write { _ = try $0.execute("DELETE FROM item") }
            try other.write { _ = try $0.execute("DELETE FROM item") }
        }
        #expect(try one.count() == 0)
    }

    @Test("the epoch is read from the view", arguments: Backend.all)
    func epoch(_ backend: Backend) throws {
        let database = try backend.open()
        let before = try database.read { try $0.epoch }
        try sharing(database) { (database) throws in
            #expect(try database.read { try $0.epoch } == before)
            try database.write { try $0.advanceEpoch() }
            #expect(try database.read { try $0.epoch } > before)
        }
        #expect(try database.read { try $0.epoch } > before)
    }
}

/// Runs `body` with a store whose reads share one view, and ends the view.
private func sharing(_ database: any Database, _ body: (StoreHandle) throws -> Void) throws {
    let view = SharedView()
    defer { view.end() }
    try body(StoreHandle(database, StoreAccess(.allowed, view: view)))
}
