import Contract
import Crypto
import Platform

/// A list that is answered in pages: its method, and what it was asked to list. A cursor belongs to one of these.
package struct PagedList {
    package let method: String
    /// The parameters that choose the rows, as one text.
    package var scope = ""

    package init(method: String, scope: String = "") {
        self.method = method
        self.scope = scope
    }

    private static let markCount = 8

    private var mark: ArraySlice<UInt8> { Hash.sha256(Array("\(method)\n\(scope)".utf8)).prefix(Self.markCount) }

    /// What a cursor stands for; the empty text is the place before everything.
    ///
    /// - Throws: `InvalidCursor` for one that this list did not give out.
    package func place(after cursor: String?) throws -> String {
        guard let cursor else { return "" }
        guard let bytes = Base64URL.decode(cursor), bytes.count > Self.markCount, bytes.prefix(Self.markCount) == mark,
            let text = String(validating: bytes.dropFirst(Self.markCount), as: UTF8.self), !text.utf8.contains(0)
        else { throw InvalidCursor(method: method) }
        return text
    }

    /// One page.
    ///
    /// - Parameters:
    ///   - found: up to `limit` + 1 rows; the one too many only says that there is another page.
    ///   - place: what the row is found by again.
    package func page<Element>(_ found: some Collection<Element>, limit: Int64, place: (Element) -> String) -> (
        elements: [Element], nextCursor: String?
    ) {
        let elements = Array(found.prefix(Int(limit)))
        guard found.count > limit, let last = elements.last else { return (elements, nil) }
        return (elements, Base64URL.encode(mark + Array(place(last).utf8)))
    }
}
