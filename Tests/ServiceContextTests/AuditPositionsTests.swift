import Testing

@testable import ServiceContext

@Suite("positions of audit records")
struct AuditPositionsTests {
    @Test("a position follows the machine's clock, and increases while the clock stands still or is set back")
    func increase() {
        let first = AuditPositions.next()
        #expect(first > 1_700_000_000_000_000)
        let second = AuditPositions.next(at: first)
        let third = AuditPositions.next(at: 0)
        #expect(first < second && second < third)
    }

    @Test("concurrent threads never get the same position, and each gets increasing ones")
    func concurrent() async {
        let found = await withTaskGroup(of: [Int64].self) { group in
            for _ in 0..<4 { group.addTask { (0..<5_000).map { AuditPositions.next(at: Int64($0)) } } }
            return await group.reduce(into: [[Int64]]()) { $0.append($1) }
        }
        #expect(found.allSatisfy { zip($0, $0.dropFirst()).allSatisfy(<) })
        #expect(Set(found.joined()).count == 20_000)
    }
}
