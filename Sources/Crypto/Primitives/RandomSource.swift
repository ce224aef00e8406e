import COpenSSL

/// A source of random bytes. Passed as a parameter, so that tests can repeat the bytes.
public protocol RandomSource: Sendable {
    /// Returns `count` random bytes.
    func bytes(_ count: Int) -> [UInt8]

    /// Returns random bytes in pieces of these lengths, as one call of `bytes` for each would.
    func pieces(_ counts: [Int]) -> [[UInt8]]

    /// Returns `count` random bytes, and the number of the draw if the source is seeded.
    func draw(_ count: Int) -> RandomDraw
}

/// Random bytes, and whether they can be repeated.
public struct RandomDraw: Sendable {
    public let bytes: [UInt8]
    /// The number of previous draws from the same seed; `nil` if the bytes cannot be repeated.
    public let number: Int64?

    public init(bytes: [UInt8], number: Int64?) {
        self.bytes = bytes
        self.number = number
    }
}

extension RandomSource {
    public func draw(_ count: Int) -> RandomDraw { RandomDraw(bytes: bytes(count), number: nil) }

    public func pieces(_ counts: [Int]) -> [[UInt8]] { counts.map(bytes) }

    /// Returns a random UUID in lower case (RFC 9562 section 5.4).
    public func uuid() -> String { uuid(of: bytes(16)) }

    /// Returns 16 random bytes as a UUID in lower case (RFC 9562 section 5.4).
    public func uuid(of bytes: [UInt8]) -> String {
        var bytes = bytes
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return Self.text(ofUUID: bytes)
    }

    /// Returns a UUID in lower case that begins with a time, so that UUIDs sort by creation time in byte order (RFC 9562 section 5.7). 62
    /// of its bits are random.
    ///
    /// - Parameters:
    ///   - seconds: The time in seconds since 1970.
    ///   - position: The number of UUIDs created earlier in this second. It replaces the fraction of the second (RFC 9562 section 6.2). A
    ///     seeded source uses its draw number instead.
    public func uuid(at seconds: Int64, position: @autoclosure () -> Int) -> String {
        let draw = draw(16)
        let position = draw.number.map { Int(truncatingIfNeeded: $0) } ?? position()
        var bytes = draw.bytes
        let milliseconds = UInt64(clamping: seconds) &* 1000 &+ UInt64(min(position >> 12, 999))
        for index in 0..<6 { bytes[index] = UInt8(truncatingIfNeeded: milliseconds >> UInt64(40 - 8 * index)) }
        bytes[6] = 0x70 | UInt8(truncatingIfNeeded: position >> 8) & 0x0F
        bytes[7] = UInt8(truncatingIfNeeded: position)
        bytes[8] = bytes[8] & 0x3F | 0x80
        return Self.text(ofUUID: bytes)
    }

    private static func text(ofUUID bytes: [UInt8]) -> String {
        let digits: StaticString = "0123456789abcdef"
        return String(unsafeUninitializedCapacity: 36) { text in
            var count = 0
            for (index, byte) in bytes.enumerated() {
                if index == 4 || index == 6 || index == 8 || index == 10 {
                    text[count] = UInt8(ascii: "-")
                    count += 1
                }
                text[count] = digits.utf8Start[Int(byte >> 4)]
                text[count + 1] = digits.utf8Start[Int(byte & 15)]
                count += 2
            }
            return count
        }
    }

    /// Returns a code of `count` decimal digits, all equally likely.
    public func decimalDigits(_ count: Int) -> String {
        var digits: [UInt8] = []
        while digits.count < count {
            // 250 is the largest multiple of ten below 256. Larger values would favor the low digits.
            for byte in bytes(count - digits.count) where byte < 250 {
                digits.append(UInt8(ascii: "0") + byte % 10)
            }
        }
        return String(decoding: digits, as: UTF8.self)
    }
}

/// OpenSSL's random generator, seeded by the kernel.
public struct SystemRandom: RandomSource {
    public init() {}

    public func bytes(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            guard count == 0 || RAND_bytes(buffer.baseAddress, Int32(count)) == 1 else { cannotContinue("read random bytes") }
            initialized = count
        }
    }

    /// Each request to the generator of OpenSSL has a high cost of its own.
    public func pieces(_ counts: [Int]) -> [[UInt8]] {
        var rest = bytes(counts.reduce(0, +))[...]
        return counts.map { count in
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
    }
}

extension SecretBytes {
    /// Creates `count` random bytes.
    public convenience init(random: some RandomSource, count: Int) {
        self.init(random.bytes(count))
    }
}
