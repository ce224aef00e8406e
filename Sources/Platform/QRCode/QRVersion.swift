/// A size of QR codes with level M (ISO/IEC 18004).
struct QRVersion: Sendable {
    /// From 1 to 40.
    let number: Int

    static let all = (1...40).map { QRVersion(number: $0) }

    /// The number of modules of one side.
    var size: Int { 17 + 4 * number }

    /// The number of error correction codewords of each block (table 9).
    private var correctionCount: Int { Self.correctionCounts[number - 1] }
    private var blockCount: Int { Self.blockCounts[number - 1] }

    private static let correctionCounts = [
        10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26, 26, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28, 28,
        28,
        28, 28, 28, 28, 28, 28,
    ]
    private static let blockCounts = [
        1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16, 17, 17, 18, 20, 21, 23, 25, 26, 28, 29, 31, 33, 35, 37, 38, 40,
        43,
        45, 47, 49,
    ]

    /// The centers of the alignment patterns, in both directions (annex E).
    var alignmentCenters: [Int] {
        guard number > 1 else { return [] }
        let count = number / 7 + 2
        let step = number == 32 ? 26 : (number * 4 + count * 2 + 1) / (count * 2 - 2) * 2
        return [6] + (0..<count - 1).reversed().map { size - 7 - $0 * step }
    }

    /// The number of codewords that fit around the function patterns.
    private var codewordCount: Int {
        let centers = alignmentCenters.count
        // Finders with their borders and the format, and both timing patterns.
        var modules = size * size - 3 * 64 - 31 - 2 * (size - 16)
        if centers > 0 { modules -= (centers * centers - 3) * 25 - 2 * (centers - 2) * 5 }
        if number >= 7 { modules -= 36 }
        return modules / 8
    }

    private var dataCount: Int { codewordCount - correctionCount * blockCount }

    /// The bits of the character count (table 3).
    private var lengthBits: Int { number < 10 ? 8 : 16 }

    /// The number of bytes that fit.
    var mostBytes: Int { (dataCount * 8 - 4 - lengthBits) / 8 }

    /// The number of the version with its error correction, or `nil` for small codes, which do not contain it (section 7.10).
    var informationBits: Int? {
        guard number >= 7 else { return nil }
        var remainder = number
        for _ in 0..<12 { remainder = remainder << 1 ^ (remainder >> 11) * 0x1F25 }
        return number << 12 | remainder
    }

    /// Returns the data with error correction, in the order in which it is drawn (sections 7.4 to 7.6).
    func codewords(of bytes: [UInt8]) -> [UInt8] {
        let data = padded(bytes)
        let (short, longer) = (dataCount / blockCount, dataCount % blockCount)
        var blocks: [ArraySlice<UInt8>] = []
        var start = 0
        for index in 0..<blockCount {
            let count = short + (index >= blockCount - longer ? 1 : 0)
            blocks.append(data[start..<start + count])
            start += count
        }
        let generator = Self.generator(correctionCount)
        let corrections = blocks.map { Self.remainder($0, generator) }
        var drawn: [UInt8] = []
        for index in 0...short { for block in blocks where index < block.count { drawn.append(block[block.startIndex + index]) } }
        for index in 0..<correctionCount { for correction in corrections { drawn.append(correction[index]) } }
        return drawn
    }

    /// Returns mode, length, bytes, end and padding.
    private func padded(_ bytes: [UInt8]) -> [UInt8] {
        var bits: [Bool] = []
        func append(_ value: Int, _ count: Int) { bits += (0..<count).reversed().map { value >> $0 & 1 == 1 } }
        let byteMode = 0b0100
        append(byteMode, 4)
        append(bytes.count, lengthBits)
        for byte in bytes { append(Int(byte), 8) }
        append(0, min(4, dataCount * 8 - bits.count))
        append(0, (8 - bits.count % 8) % 8)
        var codewords = stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
        }
        var isFirst = true
        while codewords.count < dataCount {
            codewords.append(isFirst ? 0xEC : 0x11)
            isFirst.toggle()
        }
        return codewords
    }

    // MARK: Error correction: Reed–Solomon codes over GF(256) (section 7.5, annex A)

    private static func product(_ a: UInt8, _ b: UInt8) -> UInt8 {
        var result = 0
        for bit in (0..<8).reversed() {
            result = result << 1 ^ (result >> 7) * 0x11D
            if b >> bit & 1 == 1 { result ^= Int(a) }
        }
        return UInt8(result)
    }

    /// Returns the coefficients of (x - 1)(x - 2)(x - 4)…, from the highest power, without the leading 1.
    private static func generator(_ degree: Int) -> [UInt8] {
        var coefficients = [UInt8](repeating: 0, count: degree - 1) + [1]
        var root: UInt8 = 1
        for _ in 0..<degree {
            for index in coefficients.indices {
                coefficients[index] = product(coefficients[index], root)
                if index + 1 < degree { coefficients[index] ^= coefficients[index + 1] }
            }
            root = product(root, 2)
        }
        return coefficients
    }

    private static func remainder(_ data: ArraySlice<UInt8>, _ generator: [UInt8]) -> [UInt8] {
        var rest = [UInt8](repeating: 0, count: generator.count)
        for byte in data {
            let factor = byte ^ rest[0]
            rest = rest.dropFirst() + [0]
            for index in rest.indices { rest[index] ^= product(generator[index], factor) }
        }
        return rest
    }
}
