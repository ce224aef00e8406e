/// One DER element (X.690): its class and number, and its content.
public struct ASN1: Sendable {
    /// The class and the number of a tag, without the bit for constructed elements.
    public enum Tag: Hashable, Sendable {
        case universal(Int)
        case context(Int)
        case other

        public static let integer = Tag.universal(2)
        public static let octetString = Tag.universal(4)
        public static let null = Tag.universal(5)
        public static let objectIdentifier = Tag.universal(6)
        public static let enumerated = Tag.universal(10)
        public static let sequence = Tag.universal(16)
        public static let set = Tag.universal(17)
    }

    public let tag: Tag
    public let content: ArraySlice<UInt8>
    private let end: Int

    /// Parses exactly one element. Returns `nil` if the bytes are not one element in DER.
    public init?(_ bytes: some Collection<UInt8>) {
        let bytes = ArraySlice(Array(bytes))
        guard let element = ASN1(startOf: bytes), element.end == bytes.endIndex else { return nil }
        self = element
    }

    /// Parses the first element of `bytes`: definite lengths of up to three bytes in their shortest form.
    private init?(startOf bytes: ArraySlice<UInt8>) {
        var rest = bytes
        guard let first = rest.popFirst() else { return nil }
        var number = Int(first & 0x1F)
        if number == 0x1F {
            number = 0
            var isLast = false
            while !isLast {
                guard let next = rest.popFirst(), number < 1 << 20, number > 0 || next != 0x80 else { return nil }
                number = number << 7 | Int(next & 0x7F)
                isLast = next < 0x80
            }
            guard number >= 0x1F else { return nil }
        }
        switch first >> 6 {
        case 0: tag = .universal(number)
        case 2: tag = .context(number)
        default: tag = .other
        }
        guard let short = rest.popFirst() else { return nil }
        var count = Int(short)
        if count >= 0x80 {
            let width = count & 0x7F
            guard (1...3).contains(width), rest.count >= width, rest.first != 0 else { return nil }
            count = rest.prefix(width).reduce(0) { $0 << 8 | Int($1) }
            guard count >= 0x80 else { return nil }
            rest = rest.dropFirst(width)
        }
        guard rest.count >= count else { return nil }
        content = rest.prefix(count)
        end = content.endIndex
    }

    /// The elements in the content of a constructed element, or `nil` if the content is not a sequence of elements.
    public var elements: [ASN1]? {
        var rest = content
        var found: [ASN1] = []
        while !rest.isEmpty {
            guard let element = ASN1(startOf: rest) else { return nil }
            found.append(element)
            rest = rest[element.end...]
        }
        return found
    }

    /// The value of a non-negative INTEGER or ENUMERATED of at most seven bytes.
    public var smallNumber: Int? {
        guard tag == .integer || tag == .enumerated, let first = content.first, first < 0x80, content.count <= 7 else { return nil }
        return content.reduce(0) { $0 << 8 | Int($1) }
    }

    /// The dotted form of an OBJECT IDENTIFIER (X.690 section 8.19).
    public var objectIdentifier: String? {
        guard tag == .objectIdentifier, let last = content.last, last < 0x80 else { return nil }
        var arcs: [Int] = []
        var arc = 0
        for byte in content {
            guard arc < 1 << 40 else { return nil }
            arc = arc << 7 | Int(byte & 0x7F)
            guard byte < 0x80 else { continue }
            if arcs.isEmpty {
                let first = min(arc / 40, 2)
                arcs = [first, arc - 40 * first]
            } else {
                arcs.append(arc)
            }
            arc = 0
        }
        return arcs.map(String.init).joined(separator: ".")
    }
}
