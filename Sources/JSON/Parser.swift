#if canImport(Glibc)
    import Glibc
#endif

/// A strict parser that makes one pass over the bytes and writes a `Tape`.
struct Parser: ~Copyable {
    let bytes: UnsafeBufferPointer<UInt8>
    private let maximumDepth: Int
    var position = 0
    private var depth = 0
    /// The nodes so far. The allocation always has room for the text, too.
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

    // MARK: Helpers

    mutating func append(_ shape: Tape.Shape, from start: Int, to end: Int) {
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

    func current() throws(JSONSyntaxError) -> UInt8 {
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
