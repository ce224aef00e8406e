/// Compresses text for the program: Lempel-Ziv matches, coded with adaptive binary models and a range coder, as in LZMA.
///
/// `CompressedText` of the command line is the decoder. Both have the same models and limits.
struct TextCompressor {
    private static let maximumMatch = 257
    private static let minimumMatch = 3
    /// The maximum number of earlier positions that are compared. More takes longer and saves little.
    private static let maximumSearch = 32

    private var coder = RangeEncoder()
    private var flags = [UInt16](repeating: 1024, count: 2)
    private var literals = [UInt16](repeating: 1024, count: 256 * 256)
    private var lengths = [UInt16](repeating: 1024, count: 256)
    private var distances = [UInt16](repeating: 1024, count: 4 * 32)

    /// Returns the compressed text. The first four bytes are the length of the text.
    static func compress(_ text: String) -> [UInt8] {
        var compressor = TextCompressor()
        let bytes = Array(text.utf8)
        bytes.withUnsafeBufferPointer { compressor.write($0) }
        let count = UInt32(bytes.count)
        return (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) } + compressor.coder.finished()
    }

    /// Returns bytes as printable ASCII: five characters for four bytes, in lines of 120 characters. The last group is padded with zeros.
    static func printable(_ bytes: [UInt8]) -> [String] {
        let digits = Array("!$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdefghijklmnopqrstuvwxyz".utf8)
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 4) {
            var group: UInt32 = 0
            for place in start..<start + 4 { group = group << 8 | (place < bytes.count ? UInt32(bytes[place]) : 0) }
            var five: [UInt8] = []
            for _ in 0..<5 {
                five.append(digits[Int(group % 85)])
                group /= 85
            }
            text += five.reversed()
        }
        return stride(from: 0, to: text.count, by: 120).map { String(decoding: text[$0..<min($0 + 120, text.count)], as: UTF8.self) }
    }

    private mutating func write(_ bytes: UnsafeBufferPointer<UInt8>) {
        var newest = [Int32](repeating: -1, count: 1 << 16)
        var earlier = [Int32](repeating: -1, count: bytes.count)
        func key(_ place: Int) -> Int { (Int(bytes[place]) << 8 ^ Int(bytes[place + 1]) << 4 ^ Int(bytes[place + 2]) * 37) & 0xFFFF }
        func add(_ place: Int) {
            guard place + 2 < bytes.count else { return }
            earlier[place] = newest[key(place)]
            newest[key(place)] = Int32(place)
        }
        func longest(_ place: Int) -> (length: Int, distance: Int) {
            guard place + 2 < bytes.count else { return (0, 0) }
            var best = (length: 0, distance: 0)
            var candidate = Int(newest[key(place)])
            var left = Self.maximumSearch
            let limit = min(Self.maximumMatch, bytes.count - place)
            while candidate >= 0, left > 0 {
                var length = 0
                while length < limit, bytes[candidate + length] == bytes[place + length] { length += 1 }
                if length > best.length { best = (length, place - candidate) }
                candidate = Int(earlier[candidate])
                left -= 1
            }
            let isWorthIt = best.length > 4 || best.length == 4 && best.distance < 1 << 15 || best.length == 3 && best.distance < 1 << 11
            return isWorthIt ? best : (0, 0)
        }
        var place = 0
        var wasMatch = false
        while place < bytes.count {
            var match = longest(place)
            add(place)
            if match.length >= Self.minimumMatch, match.length < 64, longest(place + 1).length > match.length { match = (0, 0) }
            coder.encode(match.length == 0 ? 0 : 1, &flags[wasMatch ? 1 : 0])
            wasMatch = match.length > 0
            if match.length == 0 {
                let before = place == 0 ? 0 : Int(bytes[place - 1])
                coder.encode(Int(bytes[place]), bits: 8, &literals, at: before * 256)
                place += 1
                continue
            }
            let length = match.length - Self.minimumMatch
            coder.encode(length, bits: 8, &lengths, at: 0)
            let distance = UInt32(match.distance)
            let width = 32 - distance.leadingZeroBitCount
            coder.encode(width, bits: 5, &distances, at: min(length, 3) * 32)
            for bit in stride(from: width - 2, through: 0, by: -1) { coder.encodePlain(Int(distance >> UInt32(bit) & 1)) }
            for skipped in 1..<match.length { add(place + skipped) }
            place += match.length
        }
    }
}

/// A binary range coder with the carry of LZMA.
private struct RangeEncoder {
    private var bytes: [UInt8] = []
    private var low: UInt64 = 0
    private var range: UInt32 = .max
    private var cache: UInt8 = 0
    private var pending = 1

    /// Writes a digit and adapts the probability of 0, in 2048ths.
    mutating func encode(_ digit: Int, _ model: inout UInt16) {
        let bound = (range >> 11) * UInt32(model)
        if digit == 0 {
            range = bound
            model += (2048 - model) >> 4
        } else {
            low += UInt64(bound)
            range -= bound
            model -= model >> 4
        }
        while range < 1 << 24 { shift() }
    }

    /// Writes a number digit by digit, each with the model for the digits before it.
    mutating func encode(_ value: Int, bits: Int, _ models: inout [UInt16], at base: Int) {
        var node = 1
        for bit in stride(from: bits - 1, through: 0, by: -1) {
            let digit = value >> bit & 1
            encode(digit, &models[base + node])
            node = node << 1 | digit
        }
    }

    /// Writes a digit without a model.
    mutating func encodePlain(_ digit: Int) {
        range >>= 1
        if digit == 1 { low += UInt64(range) }
        while range < 1 << 24 { shift() }
    }

    mutating func finished() -> [UInt8] {
        for _ in 0..<5 {
            range = 0
            shift()
        }
        return bytes
    }

    private mutating func shift() {
        range = range << 8
        if low < 0xFF00_0000 || low > 0xFFFF_FFFF {
            let carry = UInt8(truncatingIfNeeded: low >> 32)
            bytes.append(cache &+ carry)
            for _ in 1..<pending { bytes.append(0xFF &+ carry) }
            pending = 0
            cache = UInt8(truncatingIfNeeded: low >> 24)
        }
        pending += 1
        low = (low & 0x00FF_FFFF) << 8
    }
}
