/// Converts the content of a validated string literal to the UTF-8 bytes that it represents.
enum Unescaping {
    static func bytes(_ written: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        var plain: [UInt8] = []
        plain.reserveCapacity(written.count)
        var index = 0
        while index < written.count {
            let byte = written[index]
            guard byte == UInt8(ascii: "\\") else {
                plain.append(byte)
                index += 1
                continue
            }
            let kind = written[index + 1]
            index += 2
            switch kind {
            case UInt8(ascii: "b"): plain.append(0x08)
            case UInt8(ascii: "f"): plain.append(0x0C)
            case UInt8(ascii: "n"): plain.append(0x0A)
            case UInt8(ascii: "r"): plain.append(0x0D)
            case UInt8(ascii: "t"): plain.append(0x09)
            case UInt8(ascii: "u"):
                var scalar = codeUnit(written, index)
                index += 4
                if 0xD800..<0xDC00 ~= scalar {
                    scalar = 0x10000 + (scalar - 0xD800) << 10 + (codeUnit(written, index + 2) - 0xDC00)
                    index += 6
                }
                plain.append(contentsOf: UTF8.encode(Unicode.Scalar(scalar)!)!)
            default: plain.append(kind)
            }
        }
        return plain
    }

    private static func codeUnit(_ written: UnsafeBufferPointer<UInt8>, _ start: Int) -> UInt32 {
        written[start..<start + 4].reduce(0) { $0 << 4 | UInt32(hexValue($1)!) }
    }
}
