import Platform
import Storage
import Testing

@Suite("Transactions that must not wait")
struct StoreAccessTests {
    @Test("a write that must not wait throws immediately, and its body does not run", arguments: Backend.all)
    func write(_ backend: Backend) throws {
        let database = try backend.open()
        #expect(throws: WouldWait.self) { try database.impatient.insert("a") }
        #expect(try database.count() == 0)
    }

    @Test("a read that must not wait succeeds if no lock is in the way", arguments: Backend.embedded)
    func read(_ backend: Backend) throws {
        let database = try backend.open()
        try database.insert("a")
        #expect(try database.impatient.has("a"))
        #expect(try database.count() == 1)
    }

    @Test("on disk, a read never waits for a write")
    func whileWriting() throws {
        let database = try Backend.file.open()
        try database.insert("a")
        let (isWriting, hasRead) = (Signal(), Signal())
        try together(2) { thread in
            if thread == 0 {
                try database.write { tx in
                    try tx.execute("INSERT INTO item (id) VALUES ($1)", "b")
                    isWriting.send()
                    #expect(hasRead.wait(seconds: 20))
                }
            } else {
                isWriting.wait()
                let seen = [try database.impatient.has("a"), try database.impatient.has("b")]
                #expect(seen == [true, false])
                #expect(try database.count() == 1)
                hasRead.send()
            }
        }
    }

    @Test("in memory, a read that must not wait throws during a write, and other reads wait")
    func memoryWhileWriting() throws {
        let database = try Backend.memory.open()
        let (isWriting, hasTried) = (Signal(), Signal())
        try together(2) { thread in
            if thread == 0 {
                try database.write { tx in
                    try tx.execute("INSERT INTO item (id) VALUES ($1)", "b")
                    isWriting.send()
                    #expect(hasTried.wait(seconds: 20))
                }
            } else {
                isWriting.wait()
                #expect(throws: WouldWait.self) { try database.impatient.count() }
                hasTried.send()
                #expect(try database.count() == 1)
            }
        }
    }

    @Test("a store in memory never fails with busy, whatever the number of readers and writers")
    func memoryStorm() throws {
        let database = try Backend.memory.open()
        try together(24) { thread in
            for number in 0..<100 {
                if thread % 2 == 0 { try database.insert("\(thread) \(number)") } else { _ = try database.count() }
            }
        }
        #expect(try database.count() == 1200)
    }

    @Test("the access of a handle applies to all its transactions, and to none of the store's", arguments: Backend.all)
    func handle(_ backend: Backend) throws {
        let database = try backend.open()
        let impatient = database.impatient
        #expect(throws: WouldWait.self) { try impatient.insert("a") }
        #expect(throws: WouldWait.self) { try impatient.write(isolation: .serializable) { _ in } }
        try impatient.with(.patient).insert("a")
        try database.insert("b")
        #expect(try database.count() == 2)
    }
}

extension Database {
    /// The same store for a caller that must not wait.
    var impatient: StoreHandle { StoreHandle(self, StoreAccess(.refused)) }
}
