import Contract
import Glibc
import Platform

/// The key under which the requests of one client address in one tenant are counted.
struct ClientKey: Sendable, Equatable {
    /// The tenant and the network of the address. For IPv4 this is the whole address; for IPv6 the first 64 bits, because a subscriber
    /// usually
    /// receives a whole /64 network (RFC 6177). IPv4-mapped IPv6 addresses (RFC 4291 §2.5.5.2) count as IPv4 addresses.
    let text: String

    /// - Throws: `InvalidParams` if the address is not an IPv4 or IPv6 address.
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
