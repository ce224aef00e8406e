import Contract
import Glibc
import Platform

/// From where somebody uses a host's application, in one tenant, as it is counted.
struct ClientKey: Sendable, Equatable {
    /// The tenant and the address: all of an IPv4 address, the first 64 bits of an IPv6 one, which is what one subscriber has
    /// (RFC 6177). An IPv4 address in IPv6 notation (RFC 4291 section 2.5.5.2) is the IPv4 address.
    let text: String

    /// - Throws: `InvalidParams` for what is no address.
    init(_ origin: ClientOrigin, in tenantId: String) throws {
        guard let network = Self.network(of: origin.address) else {
            throw InvalidParams(violations: [
                Violation(
                    pointer: "/client/address", rule: "format",
                    message: "client.address must be an IPv4 or IPv6 address, such as 192.0.2.7 or 2001:db8::7.")
            ])
        }
        text = "\(tenantId)/\(network)"
    }

    private static func network(of address: String) -> String? {
        var four = in_addr()
        if inet_pton(AF_INET, address, &four) == 1 { return withUnsafeBytes(of: &four) { Hex.encode(Array($0)) } }
        var six = in6_addr()
        guard inet_pton(AF_INET6, address, &six) == 1 else { return nil }
        let bytes = withUnsafeBytes(of: &six) { Array($0) }
        let isMapped = bytes.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
        return Hex.encode(Array(isMapped ? bytes.suffix(4) : bytes.prefix(8)))
    }
}
