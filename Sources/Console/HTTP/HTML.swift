import Platform

/// A piece of HTML. Interpolated strings are escaped; only other pieces of HTML are inserted as they are.
struct HTML: ExpressibleByStringInterpolation, Sendable {
    var text: String

    init(stringLiteral value: String) { text = value }
    init(stringInterpolation: Interpolation) { text = stringInterpolation.text }
    init(raw text: String) { self.text = text }
    init(_ text: String) { self.text = Markup.escaped(text) }

    static let none: HTML = ""

    static func += (a: inout HTML, b: HTML) { a.text += b.text }
    static func + (a: HTML, b: HTML) -> HTML { HTML(raw: a.text + b.text) }

    struct Interpolation: StringInterpolationProtocol {
        var text = ""

        init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity + interpolationCount * 16) }

        mutating func appendLiteral(_ literal: String) { text += literal }
        mutating func appendInterpolation(_ value: HTML) { text += value.text }
        mutating func appendInterpolation(_ value: String) { text += Markup.escaped(value) }
        mutating func appendInterpolation(_ value: some BinaryInteger) { text += String(value) }
    }
}

extension Sequence<HTML> {
    func joined(_ separator: HTML = "") -> HTML { HTML(raw: map(\.text).joined(separator: separator.text)) }
}

extension DefaultStringInterpolation {
    /// HTML in a string would be escaped again, as a description of the structure.
    @available(*, unavailable, message: "write `as HTML` behind the literal")
    mutating func appendInterpolation(_ value: HTML) {}
}
