import Platform
import Storage
import Synchronization
import Testing

@Suite("Group commit of concurrent writes")
struct GroupCommitTests {
    @Test("concurrent writes of a hundred threads share commits", arguments: Backend.embedded)
    func shared(_ backend: Backend) throws {
        let database = try backend.open()
        try together(100) { thread in
            for number in 0..<10 { try database.insert("\(thread) \(number)") }
        }
        let facts = try database.facts()
        #expect(try database.count() == 1000)
        #expect(facts.writes == 1000)
        #expect(facts.commits < 300)
    }

    @Test("a failed write does not affect other writes in the same commit", arguments: Backend.all)
    func failure(_ backend: Backend) throws {
        let database = try backend.open()
        try together(60) { thread in
            for number in 0..<10 {
                let name = "\(thread) \(number)"
                if thread % 3 != 0 {
                    try database.insert(name)
                } else {
                    #expect(throws: Refused.self) {
                        try database.write { tx in
                            try tx.execute("INSERT INTO item (id) VALUES ($1)", name)
                            throw Refused()
                        }
                    }
                }
            }
        }
        #expect(try database.count() == 400)
    }

    @Test("the thread that runs a write erases its stack if the caller has handled a secret", arguments: Backend.all)
    func secret(_ backend: Backend) throws {
        let database = try backend.open()
        try together(1) { _ in
            ProcessMemory.noteSecret()
            let withSecret = try database.write { _ in ProcessMemory.hasSecret }
            ProcessMemory.wipeStack()
            let withoutSecret = try database.write { _ in ProcessMemory.hasSecret }
            #expect(withSecret && !withoutSecret)
        }
    }

    @Test("each write returns its own result")
    func answers() throws {
        let database = try Backend.memory.open()
        try together(50) { thread in
            for number in 0..<20 {
                let answer = try database.write { tx in
                    try tx.queryOne("INSERT INTO item (id) VALUES ($1) RETURNING id", "\(thread) \(number)") { $0.string(0) }
                }
                #expect(answer == "\(thread) \(number)")
            }
        }
    }

    @Test("a write returns only after the commit, so that other connections see its changes", arguments: Backend.all)
    func visible(_ backend: Backend) throws {
        let database = try backend.open()
        try together(20) { thread in
            for number in 0..<20 {
                try database.insert("\(thread) \(number)")
                #expect(try database.has("\(thread) \(number)"))
            }
        }
    }

    @Test("closing the store completes the waiting writes")
    func closing() throws {
        let path = TemporaryFolder.shared.path(uniqueName())
        let database = try SQLiteDatabase(.file(path), migrations: testSchema, connectionId: uniqueName())
        let isWriting = Signal()
        let answered = Atomic<Int>(0)
        try together(20) { thread in
            if thread == 0 {
                isWriting.wait()
                database.close()
                return
            }
            do {
                try database.write { tx in
                    isWriting.send()
                    try tx.execute("INSERT INTO item (id) VALUES ($1)", "\(thread)")
                }
                answered.wrappingAdd(1, ordering: .relaxed)
            } catch StoreError.closed {}
        }
        let again = try SQLiteDatabase(.file(path), migrations: testSchema, connectionId: uniqueName())
        #expect(try again.count() == answered.load(ordering: .relaxed))
        #expect(answered.load(ordering: .relaxed) > 0)
    }

    @Test("a store released without close ends its thread, and its file can be opened again")
    func letGo() throws {
        let path = TemporaryFolder.shared.path(uniqueName())
        for number in 0..<20 {
            try SQLiteDatabase(.file(path), migrations: testSchema, connectionId: uniqueName()).insert("\(number)")
        }
        #expect(try SQLiteDatabase(.file(path), migrations: testSchema, connectionId: uniqueName()).count() == 20)
    }
}
