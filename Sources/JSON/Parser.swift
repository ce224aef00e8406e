#if canImport(Glibc)
    import Glibc
#endif

/// The strict reader: one pass over the bytes, writing a `Tape`.
struct Parser: ~Copyable {
    private let bytes: UnsafeBufferPointer<UInt8>
    private let maximumDepth: Int
    private var position = 0
    private var depth = 0
    /// The nodes so far, in memory that always has room for the text as well.
    private var nodes: UnsafeMutablePointer<Tape.Node>
    private var nodeCount = 0
    private var nodeCapacity: Int

    static func parse(_ bytes: UnsafeRawBufferPointer, maximumDepth: Int) throws(JSONSyntaxError) -> Tape {
        guard bytes.count < UInt32.max else { throw JSONSyntaxError(.tooLong, at: Int(UInt32.max)) }
        var parser = Parser(bytes.bindMemory(to: UInt8.self), maximumDepth: maximumDepth)
        do { try parser.text() } catch {
            free(parser.nodes)
            throw error
        }
        return Tape(owning: parser.nodes, count: parser.nodeCount, copying: bytes)
    }

    private init(_ bytes: UnsafeBufferPointer<UInt8>, maximumDepth: Int) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
        nodeCapacity = bytes.count / 8 + 8
        nodes = Self.room(for: nodeCapacity, bytes, inPlaceOf: nil)
    }

    private static func room(
        for capacity: Int, _ bytes: UnsafeBufferPointer<UInt8>, inPlaceOf old: UnsafeMutablePointer<Tape.Node>?
    ) -> UnsafeMutablePointer<Tape.Node> {
        guard let memory = realloc(old, capacity * MemoryLayout<Tape.Node>.stride + bytes.count) else { fatalError("out of memory") }
        return memory.assumingMemoryBound(to: Tape.Node.self)
    }

    private mutating func text() throws(JSONSyntaxError) {
        skipSpace()
        if position == bytes.count { throw JSONSyntaxError(.empty, at: position) }
        try value()
        skipSpace()
        if position < bytes.count { throw JSONSyntaxError(.trailingBytes, at: position) }
    }

    private mutating func value() throws(JSONSyntaxError) {
        switch try current() {
        case UInt8(ascii: "\""): try string()
        case UInt8(ascii: "{"): try object()
        case UInt8(ascii: "["): try array()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
        case UInt8(ascii: "t"): try literal("true", .true)
        case UInt8(ascii: "f"): try literal("false", .false)
        case UInt8(ascii: "n"): try literal("null", .null)
        default: throw JSONSyntaxError(.unexpectedByte, at: position)
        }
    }

    // MARK: Containers

    private mutating func object() throws(JSONSyntaxError) {
        let index = try open(.object)
        if try close(with: UInt8(ascii: "}"), index: index, count: 0) { return }
        var count: UInt32 = 0
        while true {
            guard try current() == UInt8(ascii: "\"") else {
                let trailing = bytes[position] == UInt8(ascii: "}")
                throw JSONSyntaxError(trailing ? .trailingComma : .unexpectedByte, at: position)
            }
            try string()
            skipSpace()
            guard try current() == UInt8(ascii: ":") else { throw JSONSyntaxError(.unexpectedByte, at: position) }
            position += 1
            skipSpace()
            try value()
            count += 1
            skipSpace()
            if try close(with: UInt8(ascii: "}"), index: index, count: count) { break }
            try comma()
        }
        try refuseDuplicates(in: index, count: Int(count))
    }

    private mutating func array() throws(JSONSyntaxError) {
        let index = try open(.array)
        if try close(with: UInt8(ascii: "]"), index: index, count: 0) { return }
        var count: UInt32 = 0
        while true {
            if try current() == UInt8(ascii: "]") { throw JSONSyntaxError(.trailingComma, at: position) }
            try value()
            count += 1
            skipSpace()
            if try close(with: UInt8(ascii: "]"), index: index, count: count) { return }
            try comma()
        }
    }

    private mutating func open(_ shape: Tape.Shape) throws(JSONSyntaxError) -> Int {
        if depth == maximumDepth { throw JSONSyntaxError(.tooDeep, at: position) }
        depth += 1
        append(.init(shape: shape, start: UInt32(truncatingIfNeeded: position), end: 0, next: 0, count: 0))
        position += 1
        skipSpace()
        return nodeCount - 1
    }

    private mutating func close(with bracket: UInt8, index: Int, count: UInt32) throws(JSONSyntaxError) -> Bool {
        guard try current() == bracket else { return false }
        position += 1
        depth -= 1
        nodes[index].end = UInt32(truncatingIfNeeded: position)
        nodes[index].next = UInt32(truncatingIfNeeded: nodeCount)
        nodes[index].count = count
        return true
    }

    private mutating func comma() throws(JSONSyntaxError) {
        guard bytes[position] == UInt8(ascii: ",") else { throw JSONSyntaxError(.unexpectedByte, at: position) }
        position += 1
        skipSpace()
    }

    // MARK: Scalars

    private mutating func literal(_ word: StaticString, _ shape: Tape.Shape) throws(JSONSyntaxError) {
        let end = position + word.utf8CodeUnitCount
        guard end <= bytes.count, memcmp(bytes.baseAddress! + position, word.utf8Start, word.utf8CodeUnitCount) == 0 else {
            throw JSONSyntaxError(.invalidLiteral, at: position)
        }
        append(shape, from: position, to: end)
        position = end
    }

    private mutating func number() throws(JSONSyntaxError) {
        let start = position
        if bytes[position] == UInt8(ascii: "-") { position += 1 }
        if position < bytes.count, bytes[position] == UInt8(ascii: "0") { position += 1 } else { try digits() }
        if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
            position += 1
            try digits()
        }
        if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            if position < bytes.count, bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-") { position += 1 }
            try digits()
        }
        if position < bytes.count, isDigit(bytes[position]) { throw JSONSyntaxError(.invalidNumber, at: position) }
        append(.number, from: start, to: position)
    }

    private mutating func digits() throws(JSONSyntaxError) {
        guard position < bytes.count else { throw JSONSyntaxError(.unexpectedEnd, at: position) }
        guard isDigit(bytes[position]) else { throw JSONSyntaxError(.invalidNumber, at: position) }
        while position < bytes.count, isDigit(bytes[position]) { position += 1 }
    }

    private mutating func string() throws(JSONSyntaxError) {
        position += 1
        let start = position
        var shape = Tape.Shape.plainString
        while true {
            skipPlain()
            guard position < bytes.count else { throw JSONSyntaxError(.unexpectedEnd, at: position) }
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                append(shape, from: start, to: position)
                position += 1
                return
            case UInt8(ascii: "\\"):
                shape = .escapedString
                try escape()
            case 0..<0x20: throw JSONSyntaxError(.controlCharacter, at: position)
            case 0x20..<0x80: position += 1
            default: try multibyte()
            }
        }
    }

    /// Goes to the next byte that is not ASCII standing for itself, eight bytes at a time, as far as there are eight. In a word, a
    /// byte below 0x20, a quote or a backslash borrows into its high bit; a byte beyond ASCII has that bit already. Above the first
    /// of them a borrow may mark a byte wrongly, below it never.
    private mutating func skipPlain() {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let raw = UnsafeRawBufferPointer(bytes)
        while position + 8 <= bytes.count {
            let word = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: position, as: UInt64.self))
            let special =
                (word &- ones &* 0x20) | ((word ^ (ones &* 0x22)) &- ones) | ((word ^ (ones &* 0x5C)) &- ones) | word
            let marks = special & 0x8080_8080_8080_8080
            guard marks == 0 else {
                position += marks.trailingZeroBitCount / 8
                return
            }
            position += 8
        }
    }

    private mutating func escape() throws(JSONSyntaxError) {
        let start = position
        position += 1
        switch try current() {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            position += 1
        case UInt8(ascii: "u"):
            let unit = try codeUnit(at: position + 1)
            position += 5
            if 0xD800..<0xDC00 ~= unit {
                guard position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\"), bytes[position + 1] == UInt8(ascii: "u"),
                    0xDC00..<0xE000 ~= (try codeUnit(at: position + 2))
                else { throw JSONSyntaxError(.loneSurrogate, at: start) }
                position += 6
            } else if 0xDC00..<0xE000 ~= unit {
                throw JSONSyntaxError(.loneSurrogate, at: start)
            }
        default: throw JSONSyntaxError(.invalidEscape, at: start)
        }
    }

    private func codeUnit(at start: Int) throws(JSONSyntaxError) -> UInt32 {
        var unit: UInt32 = 0
        for index in start..<start + 4 {
            guard index < bytes.count else { throw JSONSyntaxError(.unexpectedEnd, at: bytes.count) }
            guard let digit = hexValue(bytes[index]) else { throw JSONSyntaxError(.invalidEscape, at: index) }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }

    /// One character of two to four bytes: no overlong forms, no surrogates, nothing above U+10FFFF (RFC 3629).
    private mutating func multibyte() throws(JSONSyntaxError) {
        let first = bytes[position]
        let length: Int
        let second: ClosedRange<UInt8>
        switch first {
        case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: (length, second) = (3, 0x80...0xBF)
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: throw JSONSyntaxError(.invalidUTF8, at: position)
        }
        guard position + length <= bytes.count, second ~= bytes[position + 1],
            (2..<length).allSatisfy({ bytes[position + $0] & 0xC0 == 0x80 })
        else { throw JSONSyntaxError(.invalidUTF8, at: position) }
        position += length
    }

    // MARK: Small steps

    private mutating func append(_ shape: Tape.Shape, from start: Int, to end: Int) {
        append(
            .init(
                shape: shape, start: UInt32(truncatingIfNeeded: start), end: UInt32(truncatingIfNeeded: end),
                next: UInt32(truncatingIfNeeded: nodeCount + 1), count: 0))
    }

    private mutating func append(_ node: Tape.Node) {
        if nodeCount == nodeCapacity {
            nodeCapacity *= 2
            nodes = Self.room(for: nodeCapacity, bytes, inPlaceOf: nodes)
        }
        nodes[nodeCount] = node
        nodeCount += 1
    }

    private func current() throws(JSONSyntaxError) -> UInt8 {
        guard position < bytes.count else { throw JSONSyntaxError(.unexpectedEnd, at: position) }
        return bytes[position]
    }

    private mutating func skipSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    private func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

    private mutating func refuseDuplicates(in object: Int, count: Int) throws(JSONSyntaxError) {
        guard count > 1 else { return }
        let nodes = UnsafeBufferPointer(start: nodes, count: nodeCount)
        if let offset = DuplicateNames.offset(in: object, count: count, nodes: nodes, bytes: bytes) {
            throw JSONSyntaxError(.duplicateName, at: offset)
        }
    }
}

/// The value of a hexadecimal digit.
func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
}
