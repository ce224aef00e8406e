import Platform
import Storage
import Testing

@Suite("Transactions of threads that should not wait")
struct StoreAccessTests {
    @Test("a read and a write succeed even on a thread that should not wait", arguments: Backend.all)
    func access(_ backend: Backend) throws {
        let database = try backend.open()
        try database.impatient.insert("a")
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

    @Test("in memory, a read waits for a write and sees its changes")
    func memoryWhileWriting() throws {
        let database = try Backend.memory.open()
        let isWriting = Signal()
        try together(2) { thread in
            if thread == 0 {
                try database.write { tx in
                    try tx.execute("INSERT INTO item (id) VALUES ($1)", "b")
                    isWriting.send()
                }
            } else {
                isWriting.wait()
                #expect(try database.impatient.count() == 1)
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
}

extension Database {
    /// The same store for a caller that should not wait.
    var impatient: StoreHandle { StoreHandle(self, StoreAccess(.refused)) }
}
