/// Writes DER (X.690) from the end to the beginning, so that each length is known when it is written.
///
/// The last element is written first: the order of the calls is the reverse of the order of the elements.
struct DERWriter {
    private let buffer: UnsafeMutableRawBufferPointer
    private var start: Int

    /// Creates a writer for `buffer`, which must be long enough.
    init(_ buffer: UnsafeMutableRawBufferPointer) {
        self.buffer = buffer
        start = buffer.count
    }

    /// The bytes written so far.
    var written: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer[start...]) }

    mutating func prepend(_ byte: UInt8) {
        start -= 1
        buffer[start] = byte
    }

    mutating func prepend(_ bytes: UnsafeRawBufferPointer) {
        start -= bytes.count
        UnsafeMutableRawBufferPointer(rebasing: buffer[start..<start + bytes.count]).copyMemory(from: bytes)
    }

    mutating func prepend(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { prepend($0) }
    }

    /// Prepends an element with the content that `content` prepends.
    mutating func wrap(_ tag: DERTag, _ content: (inout DERWriter) -> Void) {
        let end = start
        content(&self)
        let count = end - start
        if count < 0x80 {
            prepend(UInt8(count))
        } else {
            var rest = count
            var lengthCount: UInt8 = 0
            while rest > 0 {
                prepend(UInt8(truncatingIfNeeded: rest))
                rest >>= 8
                lengthCount += 1
            }
            prepend(0x80 | lengthCount)
        }
        prepend(tag.rawValue)
    }

    /// Prepends an integer in big-endian order.
    mutating func prependUnsigned(_ bigEndian: UnsafeRawBufferPointer) {
        wrap(.integer) { writer in
            let digits = bigEndian.drop { $0 == 0 }
            writer.prepend(UnsafeRawBufferPointer(rebasing: digits))
            if digits.first.map({ $0 >= 0x80 }) ?? true { writer.prepend(0) }
        }
    }
}
