import Contract
import Platform

/// The address of a caller, as the application states it.
package enum SourceAddress {
    /// - Throws: `InvalidParams` if the text is not an IP address.
    package static func check(_ text: String?) throws {
        guard let text, text.hasPrefix("[") || NetworkAddress(text) == nil else { return }
        let violation = Violation(
            pointer: "/sourceIp", rule: "address", message: "sourceIp must be an IPv4 or IPv6 address, such as 203.0.113.7 or 2001:db8::1.")
        throw InvalidParams(violations: [violation])
    }
}
