import Platform
import Testing

/// Compares the table with a dictionary after each of many random changes.
@Suite struct AddressTableTests {
    @Test(arguments: 1...20)
    func containsWhatADictionaryContains(seed: UInt64) {
        var noise = seed
        func random(_ limit: UInt64) -> UInt64 {
            noise = noise &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (noise >> 33) % limit
        }
        var table = AddressTable<Int>(size: 8)
        var expected: [UInt: Int] = [:]
        // Few addresses with a small distance, so that most searches meet others.
        let addresses = (0..<40).map { UInt($0 * 16 + 0x7F00_0000_1000) }
        for step in 0..<2_000 {
            let address = addresses[Int(random(40))]
            // In turns more additions and more removals, so that the table grows and empties.
            if random(4) < (step / 200 % 2 == 0 ? 3 : 1) {
                table.add(step, at: address)
                expected[address] = step
            } else {
                table.remove(address)
                expected[address] = nil
            }
            #expect(table.count == expected.count)
            for address in addresses where table[address] != expected[address] {
                Issue.record("step \(step): \(address) is \(String(describing: table[address]))")
                return
            }
        }
        #expect(table.values.sorted() == expected.values.sorted())
    }
}
