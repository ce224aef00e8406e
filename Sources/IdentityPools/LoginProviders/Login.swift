/// A pair of provider and subject, compared byte by byte.
package struct Login: Hashable, Sendable {
    package let provider: String
    let subject: String
}
