import JSON

/// Reads the times of a token, which can have a fraction (RFC 7519 §2, NumericDate).
package enum NumericDate {
    /// Returns the whole seconds since 1970-01-01 UTC, or `nil` if the claim is not a time.
    package static func seconds(_ claim: JSONNode) -> Int64? {
        guard let number = claim.number else { return nil }
        return seconds(number)
    }

    package static func seconds(_ claim: JSONValue?) -> Int64? { claim?.number.flatMap(seconds) }

    private static func seconds(_ number: JSONNumber) -> Int64? { number.int64 ?? Int64(exactly: number.double.rounded(.down)) }
}
