/// Writes JSON in one pass into a byte buffer. Inserts commas automatically; the caller must end each object and array that it begins.
public struct JSONWriter: Sendable {
    /// The output so far. May be sent between two complete values.
    public var bytes: [UInt8] = []
    private var needsComma = false

    public init(reservingCapacity capacity: Int = 256) { bytes.reserveCapacity(capacity) }

    // MARK: Structure

    @inline(__always)
    private mutating func begin() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    public mutating func beginObject() {
        begin()
        bytes.append(UInt8(ascii: "{"))
        needsComma = false
    }

    public mutating func endObject() {
        bytes.append(UInt8(ascii: "}"))
        needsComma = true
    }

    public mutating func beginArray() {
        begin()
        bytes.append(UInt8(ascii: "["))
        needsComma = false
    }

    public mutating func endArray() {
        bytes.append(UInt8(ascii: "]"))
        needsComma = true
    }

    /// Writes a member name that needs no escapes. The value must follow.
    public mutating func key(_ name: StaticString) {
        begin()
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a member name. The value must follow.
    public mutating func key(_ name: String) {
        string(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    // MARK: Members

    // Not inlined: the code of the results consists of these calls.

    /// Writes a member, unless `value` is `nil`.
    @inline(never)
    public mutating func member(_ name: StaticString, _ value: String?) { if let value { member(name, value) } }

    /// Writes a member, unless `value` is `nil`.
    @inline(never)
    public mutating func member(_ name: StaticString, _ value: Int64?) { if let value { member(name, value) } }

    /// Writes a member, unless `value` is `nil`.
    @inline(never)
    public mutating func member(_ name: StaticString, _ value: Bool?) { if let value { member(name, value) } }

    @inline(never)
    public mutating func member(_ name: StaticString, _ value: String) {
        key(name)
        string(value)
    }

    @inline(never)
    public mutating func member(_ name: StaticString, _ value: Int64) {
        key(name)
        int(value)
    }

    @inline(never)
    public mutating func member(_ name: StaticString, _ value: Bool) {
        key(name)
        bool(value)
    }

    // MARK: Texts

    /// Begins another text in the same buffer, so that no comma separates it from the previous one.
    public mutating func beginText() { needsComma = false }

    // MARK: Values

    public mutating func null() {
        begin()
        append("null")
    }

    public mutating func bool(_ value: Bool) {
        begin()
        append(value ? "true" : "false")
    }

    public mutating func int(_ value: Int64) {
        begin()
        appendDecimal(value)
    }

    public mutating func int(_ value: Int) { int(Int64(value)) }

    /// Writes `value`, or `null` for infinities and NaN, which JSON cannot represent.
    public mutating func double(_ value: Double) {
        if let number = JSONNumber(value) { self.number(number) } else { null() }
    }

    public mutating func number(_ value: JSONNumber) {
        begin()
        bytes.append(contentsOf: value.text.utf8)
    }

    public mutating func string(_ value: String) {
        beginString()
        part(value)
        endString()
    }

    /// Begins a string that is written in parts.
    public mutating func beginString() {
        begin()
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes the next part of a string.
    public mutating func part(_ value: String) {
        var value = value
        value.withUTF8 { appendEscaped($0) }
    }

    /// Ends a string that was written in parts.
    public mutating func endString() { bytes.append(UInt8(ascii: "\"")) }

    /// Writes a string from its UTF-8 bytes, which must be valid.
    public mutating func string(utf8 value: some Collection<UInt8>) {
        begin()
        bytes.append(UInt8(ascii: "\""))
        let done: Void? = value.withContiguousStorageIfAvailable { appendEscaped($0) }
        if done == nil { Array(value).withUnsafeBufferPointer { appendEscaped($0) } }
        bytes.append(UInt8(ascii: "\""))
    }

    public mutating func value(_ value: JSONValue) {
        switch value {
        case .null: null()
        case .bool(let bool): self.bool(bool)
        case .number(let number): self.number(number)
        case .string(let string): self.string(string)
        case .array(let elements):
            beginArray()
            for element in elements { self.value(element) }
            endArray()
        case .object(let object):
            beginObject()
            for (name, value) in object.members {
                key(name)
                self.value(value)
            }
            endObject()
        }
    }

    /// Writes one or more already encoded members of an object, without surrounding commas.
    public mutating func rawMembers(_ json: [UInt8]) {
        begin()
        bytes.append(contentsOf: json)
    }

    /// Writes one value that is already encoded.
    public mutating func raw(_ json: [UInt8]) {
        begin()
        bytes.append(contentsOf: json)
    }

    /// Writes one value that is already encoded.
    public mutating func raw(_ json: ArraySlice<UInt8>) {
        begin()
        bytes.append(contentsOf: json)
    }

    /// Writes one value that is already encoded.
    public mutating func raw(_ json: StaticString) {
        begin()
        append(json)
    }

    /// Writes the source text of the value at `node`.
    public mutating func raw(_ node: JSONNode) {
        begin()
        node.appendRaw(to: &bytes)
    }

    // MARK: Bytes

    private mutating func append(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func appendDecimal(_ value: Int64) {
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        var rest = value.magnitude
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var start = 20
            repeat {
                start -= 1
                digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: digits[start..<20]))
        }
    }

    private mutating func appendEscaped(_ text: UnsafeBufferPointer<UInt8>) {
        var run = 0
        var index = 0
        while true {
            index = Self.firstEscape(in: text, from: index)
            guard index < text.count else { break }
            let byte = text[index]
            defer { index += 1 }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[run..<index]))
            run = index + 1
            bytes.append(UInt8(ascii: "\\"))
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
            case 0x08: bytes.append(UInt8(ascii: "b"))
            case 0x09: bytes.append(UInt8(ascii: "t"))
            case 0x0A: bytes.append(UInt8(ascii: "n"))
            case 0x0C: bytes.append(UInt8(ascii: "f"))
            case 0x0D: bytes.append(UInt8(ascii: "r"))
            default:
                append("u00")
                bytes.append(byte >> 4 == 0 ? UInt8(ascii: "0") : UInt8(ascii: "1"))
                bytes.append(byte & 15 < 10 ? UInt8(ascii: "0") + (byte & 15) : UInt8(ascii: "a") + (byte & 15) - 10)
            }
        }
        bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[run...]))
    }

    /// Returns the index of the next byte that must be escaped, or the end. Checks eight bytes at once: a byte below 0x20, a quote or a
    /// backslash sets the high bit of its position. (A borrow may also mark the byte after such a byte, but never an earlier one, so the
    /// first mark is always correct.)
    private static func firstEscape(in text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let high: UInt64 = 0x8080_8080_8080_8080
        let raw = UnsafeRawBufferPointer(text)
        var index = start
        while index + 8 <= text.count {
            let word = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let quote = word ^ (ones &* 0x22)
            let backslash = word ^ (ones &* 0x5C)
            let found = ((word &- ones &* 0x20) & ~word | (quote &- ones) & ~quote | (backslash &- ones) & ~backslash) & high
            if found != 0 { return index + found.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < text.count, text[index] >= 0x20, text[index] != UInt8(ascii: "\""), text[index] != UInt8(ascii: "\\") { index += 1 }
        return index
    }
}
