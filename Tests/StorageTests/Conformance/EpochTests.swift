import Storage
import Testing

@Suite("The epoch that invalidates cached data")
struct EpochTests {
    @Test("the epoch changes only when it is advanced", arguments: Backend.all)
    func moves(_ backend: Backend) throws {
        let database = try backend.open()
        let before = try database.read { try $0.epoch }
        try database.insert("a")
        #expect(try database.read { try $0.epoch } == before)
        try database.write { try $0.advanceEpoch() }
        #expect(try database.read { try $0.epoch } == before + 1)
        #expect(try database.write { try $0.epoch } == before + 1)
    }

    @Test("every reading connection reads the advanced epoch", arguments: Backend.all)
    func everywhere(_ backend: Backend) throws {
        let database = try backend.open()
        let before = try database.read { try $0.epoch }
        for step in 1...20 {
            try database.write { try $0.advanceEpoch() }
            try together(4) { _ in
                let seen = try database.read { try $0.epoch }
                #expect(seen == before + Int64(step))
            }
        }
    }

    @Test("an advance in a rolled-back transaction has no effect", arguments: Backend.all)
    func undone(_ backend: Backend) throws {
        let database = try backend.open()
        let before = try database.read { try $0.epoch }
        #expect(throws: Refused.self) {
            try database.write { tx in
                try tx.advanceEpoch()
                _ = try tx.epoch
                throw Refused()
            }
        }
        #expect(try database.read { try $0.epoch } == before)
        #expect(try database.write { try $0.epoch } == before)
    }

    @Test("in a write that advances the epoch, each read returns a new negative value, so nothing is cached", arguments: Backend.all)
    func neverRemembered(_ backend: Backend) throws {
        let database = try backend.open()
        var seen: [Int64] = []
        for _ in 0..<3 {
            seen += try database.write { tx in
                try tx.advanceEpoch()
                return [try tx.epoch, try tx.epoch]
            }
        }
        #expect(seen.allSatisfy { $0 < -1 })
        #expect(Set(seen).count == 6)
    }
}
