/// Parses the subset of DER (X.690) that private keys and ECDSA signatures use, without copying.
struct DERReader {
    private var rest: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    /// The tag of the next element, or `nil` at the end.
    var nextTag: UInt8? { rest.first }

    /// Returns the content of the next element, if it has this tag and a length in its shortest form.
    mutating func read(_ tag: DERTag) -> UnsafeRawBufferPointer? {
        guard rest.count >= 2, rest[0] == tag.rawValue else { return nil }
        var count = Int(rest[1])
        var header = 2
        if count >= 0x80 {
            let lengthCount = count & 0x7F
            guard (1...3).contains(lengthCount), rest.count >= 2 + lengthCount, rest[2] != 0 else { return nil }
            count = rest[2..<2 + lengthCount].reduce(0) { $0 << 8 | Int($1) }
            guard count >= 0x80 else { return nil }
            header += lengthCount
        }
        guard rest.count - header >= count else { return nil }
        let content = UnsafeRawBufferPointer(rebasing: rest[header..<header + count])
        rest = UnsafeRawBufferPointer(rebasing: rest[(header + count)...])
        return content
    }

    /// Returns a reader for the content of the next element.
    mutating func enter(_ tag: DERTag) -> DERReader? { read(tag).map(DERReader.init) }

    /// Returns the next element as an unsigned integer, without the zero byte that marks it as positive.
    mutating func readUnsigned() -> UnsafeRawBufferPointer? {
        guard let content = read(.integer), let first = content.first, first < 0x80 else { return nil }
        guard first == 0, content.count > 1 else { return content }
        guard content[1] >= 0x80 else { return nil }
        return UnsafeRawBufferPointer(rebasing: content[1...])
    }
}

/// The tags in the supported structures.
enum DERTag: UInt8 {
    case integer = 0x02
    case bitString = 0x03
    case octetString = 0x04
    case null = 0x05
    case objectIdentifier = 0x06
    case utf8String = 0x0C
    case utcTime = 0x17
    case generalizedTime = 0x18
    case sequence = 0x30
    case set = 0x31
    case context0 = 0xA0
    case context1 = 0xA1
    case context3 = 0xA3
}
