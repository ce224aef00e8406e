/// A QR code (ISO/IEC 18004) with error correction level M, for bytes.
public struct QRCode: Sendable, Equatable {
    /// The number of modules of one side, without the quiet zone.
    public private(set) var size: Int
    private var dark: [Bool]
    /// Whether a module has a fixed function and takes no data.
    private var isReserved: [Bool]

    /// The width of the light border that readers need, in modules.
    public static let quietZone = 4

    /// - Returns: `nil` if the text has more than 2,331 bytes.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard let version = QRVersion.all.first(where: { $0.mostBytes >= bytes.count }) else { return nil }
        size = version.size
        dark = [Bool](repeating: false, count: size * size)
        isReserved = dark
        drawFunctionPatterns(version)
        draw(version.codewords(of: bytes))
        let plain = self
        self = (0..<8).map { plain.masked($0) }.min { $0.penalty < $1.penalty }!
    }

    /// Returns whether a module is dark. Modules outside the code are light.
    public func isDark(_ x: Int, _ y: Int) -> Bool {
        0..<size ~= x && 0..<size ~= y && dark[y * size + x]
    }

    // MARK: Function patterns (section 6.3)

    private mutating func reserve(_ x: Int, _ y: Int, _ isDark: Bool) {
        guard 0..<size ~= x, 0..<size ~= y else { return }
        dark[y * size + x] = isDark
        isReserved[y * size + x] = true
    }

    private mutating func drawFunctionPatterns(_ version: QRVersion) {
        for place in 0..<size {
            reserve(6, place, place % 2 == 0)
            reserve(place, 6, place % 2 == 0)
        }
        for (x, y) in [(3, 3), (size - 4, 3), (3, size - 4)] { drawFinder(x, y) }
        let centers = version.alignmentCenters
        for (row, y) in centers.enumerated() {
            for (column, x) in centers.enumerated() {
                let last = centers.count - 1
                if [(0, 0), (0, last), (last, 0)].contains(where: { $0 == (column, row) }) { continue }
                for dy in -2...2 { for dx in -2...2 { reserve(x + dx, y + dy, max(abs(dx), abs(dy)) != 1) } }
            }
        }
        drawFormat(mask: 0)
        guard let bits = version.informationBits else { return }
        for index in 0..<18 {
            let isDark = bits >> index & 1 == 1
            let (near, far) = (index / 3, size - 11 + index % 3)
            reserve(far, near, isDark)
            reserve(near, far, isDark)
        }
    }

    private mutating func drawFinder(_ x: Int, _ y: Int) {
        for dy in -4...4 {
            for dx in -4...4 {
                let distance = max(abs(dx), abs(dy))
                reserve(x + dx, y + dy, distance != 2 && distance != 4)
            }
        }
    }

    /// Draws the level and the mask twice (section 7.9).
    private mutating func drawFormat(mask: Int) {
        // The bits of level M are 00.
        var remainder = mask
        for _ in 0..<10 { remainder = remainder << 1 ^ (remainder >> 9) * 0x537 }
        let bits = (mask << 10 | remainder) ^ 0x5412
        for index in 0..<15 {
            let isDark = bits >> index & 1 == 1
            switch index {
            case ..<6: reserve(8, index, isDark)
            case 6, 7: reserve(8, index + 1, isDark)
            case 8: reserve(7, 8, isDark)
            default: reserve(14 - index, 8, isDark)
            }
            if index < 8 { reserve(size - 1 - index, 8, isDark) } else { reserve(8, size - 15 + index, isDark) }
        }
        reserve(8, size - 8, true)
    }

    // MARK: Data (sections 7.7 and 7.8)

    /// Draws the bits of the codewords upwards and downwards in columns of two modules, from the right.
    private mutating func draw(_ codewords: [UInt8]) {
        var index = 0
        var isUpward = true
        for right in [Int](stride(from: size - 1, through: 8, by: -2)) + [5, 3, 1] {
            for step in 0..<size {
                let y = isUpward ? size - 1 - step : step
                for x in [right, right - 1] where !isReserved[y * size + x] && index < codewords.count * 8 {
                    dark[y * size + x] = codewords[index / 8] >> (7 - index % 8) & 1 == 1
                    index += 1
                }
            }
            isUpward.toggle()
        }
    }

    private func masked(_ mask: Int) -> QRCode {
        var code = self
        for y in 0..<size {
            for x in 0..<size where !isReserved[y * size + x] && Self.inverts(mask, x, y) { code.dark[y * size + x].toggle() }
        }
        code.drawFormat(mask: mask)
        return code
    }

    private static func inverts(_ mask: Int, _ x: Int, _ y: Int) -> Bool {
        switch mask {
        case 0: (x + y) % 2 == 0
        case 1: y % 2 == 0
        case 2: x % 3 == 0
        case 3: (x + y) % 3 == 0
        case 4: (x / 3 + y / 2) % 2 == 0
        case 5: x * y % 2 + x * y % 3 == 0
        case 6: (x * y % 2 + x * y % 3) % 2 == 0
        default: ((x + y) % 2 + x * y % 3) % 2 == 0
        }
    }

    /// How hard the code is to read (section 7.8.3): long lines, blocks, what looks like a finder, and an uneven number of dark modules.
    var penalty: Int {
        var points = 0
        for line in 0..<size {
            points += Self.penalty((0..<size).map { dark[line * size + $0] })
            points += Self.penalty((0..<size).map { dark[$0 * size + line] })
        }
        for y in 0..<size - 1 {
            for x in 0..<size - 1 {
                let color = dark[y * size + x]
                if dark[y * size + x + 1] == color, dark[(y + 1) * size + x] == color, dark[(y + 1) * size + x + 1] == color { points += 3 }
            }
        }
        let total = size * size
        let distance = abs(dark.count { $0 } * 20 - total * 10)
        return points + distance / total * 10
    }

    private static let finderLike: [[Bool]] = ["00001011101", "10111010000"].map { $0.map { $0 == "1" } }

    private static func penalty(_ line: [Bool]) -> Int {
        var (points, run) = (0, 1)
        for index in 1...line.count {
            if index < line.count, line[index] == line[index - 1] {
                run += 1
            } else {
                if run >= 5 { points += run - 2 }
                run = 1
            }
        }
        for start in 0...line.count - 11 {
            for pattern in finderLike where line[start..<start + 11].elementsEqual(pattern) { points += 40 }
        }
        return points
    }
}
