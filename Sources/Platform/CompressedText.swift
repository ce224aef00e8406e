/// Decompresses the documentation and the files of the web console, which `TextCompressor` of the contract generator has compressed.
public struct CompressedText {
    private var coder: RangeDecoder
    private let count: Int
    private var flags = [UInt16](repeating: 1024, count: 2)
    private var literals = [UInt16](repeating: 1024, count: 256 * 256)
    private var lengths = [UInt16](repeating: 1024, count: 256)
    private var distances = [UInt16](repeating: 1024, count: 4 * 32)

    /// Returns the bytes of the text.
    ///
    /// - Parameter printable: The compressed text as `TextCompressor.printable` writes it. Line ends are ignored.
    public static func bytes(_ printable: StaticString) -> [UInt8] {
        var text = CompressedText(printable)
        return text.decoded()
    }

    private init(_ printable: StaticString) {
        var bytes: [UInt8] = []
        var group: UInt32 = 0
        var digits = 0
        printable.withUTF8Buffer { buffer in
            bytes.reserveCapacity(buffer.count)
            for character in buffer where character != 10 {
                // The digits are the characters from ! to z without " # and the reverse solidus.
                let digit = character == 33 ? 0 : character < 92 ? character - 35 : character - 36
                group = group &* 85 &+ UInt32(digit)
                digits += 1
                guard digits == 5 else { continue }
                for shift in [24, 16, 8, 0] as [UInt32] { bytes.append(UInt8(truncatingIfNeeded: group >> shift)) }
                group = 0
                digits = 0
            }
        }
        count = bytes[..<4].reduce(0) { $0 << 8 | Int($1) }
        coder = RangeDecoder(bytes)
    }

    private mutating func decoded() -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(count)
        var wasMatch = false
        while output.count < count {
            wasMatch = coder.digit(&flags[wasMatch ? 1 : 0]) == 1
            guard wasMatch else {
                output.append(UInt8(coder.number(bits: 8, &literals, at: Int(output.last ?? 0) * 256)))
                continue
            }
            let length = coder.number(bits: 8, &lengths, at: 0)
            let width = coder.number(bits: 5, &distances, at: min(length, 3) * 32)
            var distance = 1
            for _ in 1..<max(width, 1) { distance = distance << 1 | coder.plainDigit() }
            for _ in 0..<length + 3 { output.append(output[output.count - distance]) }
        }
        return output
    }
}

/// The decoder of the binary range coder.
private struct RangeDecoder {
    private let input: [UInt8]
    private var place = 9
    private var range = UInt32.max
    private var code: UInt32 = 0

    /// - Parameter input: The length of the text in four bytes, and the code. The first byte of the code is always 0.
    init(_ input: [UInt8]) {
        self.input = input
        for place in 5..<9 { code = code << 8 | UInt32(input[place]) }
    }

    mutating func number(bits: Int, _ models: inout [UInt16], at base: Int) -> Int {
        var node = 1
        for _ in 0..<bits { node = node << 1 | digit(&models[base + node]) }
        return node - 1 << bits
    }

    mutating func digit(_ model: inout UInt16) -> Int {
        let bound = (range >> 11) * UInt32(model)
        defer { fill() }
        if code < bound {
            range = bound
            model += (2048 - model) >> 4
            return 0
        }
        code -= bound
        range -= bound
        model -= model >> 4
        return 1
    }

    mutating func plainDigit() -> Int {
        range >>= 1
        defer { fill() }
        guard code >= range else { return 0 }
        code -= range
        return 1
    }

    private mutating func fill() {
        while range < 1 << 24 {
            range <<= 8
            code = code << 8 | (place < input.count ? UInt32(input[place]) : 0)
            place += 1
        }
    }
}
