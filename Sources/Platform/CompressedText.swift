/// Decompresses the documentation and the files of the web console, which `TextCompressor` of the contract generator has compressed.
public enum CompressedText {
    /// Returns the bytes of the text.
    ///
    /// - Parameter printable: The compressed text as `TextCompressor.printable` writes it. Line ends are ignored.
    public static func bytes(_ printable: StaticString) -> [UInt8] {
        let input = unprintable(printable)
        let count = input[..<4].reduce(0) { $0 << 8 | Int($1) }
        return input.withUnsafeBufferPointer { input in
            withUnsafeTemporaryAllocation(of: UInt16.self, capacity: Models.count) { models in
                models.initialize(repeating: 1024)
                return [UInt8](unsafeUninitializedCapacity: count) { output, written in
                    decode(RangeDecoder(input), models, into: output, count)
                    written = count
                }
            }
        }
    }

    private static func unprintable(_ printable: StaticString) -> [UInt8] {
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
        return bytes
    }

    /// The places of the probabilities.
    private enum Models {
        static let literals = 0
        static let flags = literals + 256 * 256
        static let lengths = flags + 2
        static let distances = lengths + 256
        static let count = distances + 4 * 32
    }

    /// - Parameter models: The probability of a 0 in 2048ths, for each binary decision.
    private static func decode(
        _ start: RangeDecoder, _ models: UnsafeMutableBufferPointer<UInt16>, into output: UnsafeMutableBufferPointer<UInt8>, _ count: Int
    ) {
        var coder = start
        var place = 0
        var wasMatch = 0
        var last = 0
        while place < count {
            wasMatch = coder.digit(&models[Models.flags + wasMatch])
            if wasMatch == 0 {
                last = coder.number(bits: 8, models, at: Models.literals + last * 256)
                output[place] = UInt8(truncatingIfNeeded: last)
                place += 1
                continue
            }
            let length = coder.number(bits: 8, models, at: Models.lengths)
            let width = coder.number(bits: 5, models, at: Models.distances + min(length, 3) * 32)
            var distance = 1
            for _ in 1..<max(width, 1) { distance = distance << 1 | coder.plainDigit() }
            let end = place + length + 3
            precondition(distance <= place && end <= count, "The compressed text is damaged.")
            while place < end {
                output[place] = output[place - distance]
                place += 1
            }
            last = Int(output[place - 1])
        }
    }
}

/// The decoder of the binary range coder. It decides millions of digits: it stays in registers.
private struct RangeDecoder {
    private let input: UnsafeBufferPointer<UInt8>
    private var place = 9
    private var range = UInt32.max
    private var code: UInt32 = 0

    /// - Parameter input: The length of the text in four bytes, and the code. The first byte of the code is always 0.
    init(_ input: UnsafeBufferPointer<UInt8>) {
        self.input = input
        for place in 5..<9 { code = code << 8 | UInt32(input[place]) }
    }

    @inline(__always)
    mutating func number(bits: Int, _ models: UnsafeMutableBufferPointer<UInt16>, at base: Int) -> Int {
        var node = 1
        for _ in 0..<bits { node = node << 1 | digit(&models[base + node]) }
        return node - 1 << bits
    }

    @inline(__always)
    mutating func digit(_ model: inout UInt16) -> Int {
        let bound = (range >> 11) &* UInt32(model)
        defer { fill() }
        if code < bound {
            range = bound
            model &+= (2048 &- model) >> 4
            return 0
        }
        code &-= bound
        range &-= bound
        model &-= model >> 4
        return 1
    }

    @inline(__always)
    mutating func plainDigit() -> Int {
        range >>= 1
        defer { fill() }
        guard code >= range else { return 0 }
        code -= range
        return 1
    }

    @inline(__always)
    private mutating func fill() {
        while range < 1 << 24 {
            range <<= 8
            code = code << 8 | (place < input.count ? UInt32(input[place]) : 0)
            place += 1
        }
    }
}
