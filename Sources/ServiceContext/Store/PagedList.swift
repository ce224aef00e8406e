import Contract
import Crypto
import Platform

/// A paginated list, identified by its method and parameters. A cursor is valid for one such list only.
package struct PagedList {
    package let method: String
    /// The parameters that select the rows, as one string.
    package var scope = ""

    package init(method: String, scope: String = "") {
        self.method = method
        self.scope = scope
    }

    private static let markCount = 8

    private var mark: ArraySlice<UInt8> { Hash.sha256(Array("\(method)\n\(scope)".utf8)).prefix(Self.markCount) }

    /// Returns the position that a cursor represents. The empty string is the start of the list.
    ///
    /// - Throws: `InvalidCursor` if the cursor is not from this list.
    package func place(after cursor: String?) throws -> String {
        guard let cursor else { return "" }
        guard let bytes = Base64URL.decode(cursor), bytes.count > Self.markCount, bytes.prefix(Self.markCount) == mark,
            let text = String(validating: bytes.dropFirst(Self.markCount), as: UTF8.self), !text.utf8.contains(0)
        else { throw InvalidCursor(method: method) }
        return text
    }

    /// Returns one page.
    ///
    /// - Parameters:
    ///   - found: Up to `limit` + 1 rows; the additional row indicates that there is another page.
    ///   - place: Returns the position of a row.
    package func page<Element>(_ found: some Collection<Element>, limit: Int64, place: (Element) -> String) -> (
        elements: [Element], nextCursor: String?
    ) {
        let elements = Array(found.prefix(Int(limit)))
        guard found.count > limit, let last = elements.last else { return (elements, nil) }
        return (elements, Base64URL.encode(mark + Array(place(last).utf8)))
    }
}
