import Glibc

/// An IP address and its reachability. An IPv4 address embedded in an IPv6 address is treated as that IPv4 address.
public struct NetworkAddress: Hashable, Sendable {
    /// The network that an address belongs to (the special-purpose registries of RFC 6890).
    public enum Reach: Hashable, Sendable {
        /// The public internet.
        case everyone
        /// This machine.
        case loopback
        /// A private network.
        case privateNetwork
        /// An address that no request can reasonably name: link-local (the metadata services of cloud providers), multicast or reserved.
        case nobody
    }

    /// 4 or 16 bytes.
    public let bytes: [UInt8]

    /// The address of a socket, or `nil` if it is not an IP address.
    public init?(_ address: UnsafePointer<sockaddr>) {
        let raw = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET: bytes = withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in.self).sin_addr) { Array($0) }
        case AF_INET6: bytes = withUnsafeBytes(of: raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr) { Array($0) }
        default: return nil
        }
    }

    /// Parses an address as written in a URL. An IPv6 address can be in brackets.
    public init?(_ text: String) {
        var space = [UInt8](repeating: 0, count: 16)
        let bare = text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : text
        if inet_pton(AF_INET, bare, &space) == 1 {
            bytes = Array(space[..<4])
        } else if inet_pton(AF_INET6, bare, &space) == 1 {
            bytes = space
        } else {
            return nil
        }
    }

    /// The beginning of IPv6 addresses that contain an IPv4 address (RFC 4291 §2.5.5.2).
    static let mappedPrefix = [UInt8](repeating: 0, count: 10) + [0xff, 0xff]

    public var reach: Reach { bytes.count == 4 ? Self.reach(v4: bytes[...]) : reachOfV6 }

    private static let ranges: [(network: [UInt8], bits: Int, reach: Reach)] = [
        ([0], 8, .nobody), ([10], 8, .privateNetwork), ([100, 64], 10, .privateNetwork), ([127], 8, .loopback),
        ([169, 254], 16, .nobody), ([172, 16], 12, .privateNetwork), ([192, 0, 0], 24, .nobody), ([192, 0, 2], 24, .nobody),
        ([192, 88, 99], 24, .nobody), ([192, 168], 16, .privateNetwork), ([198, 18], 15, .privateNetwork),
        ([198, 51, 100], 24, .nobody), ([203, 0, 113], 24, .nobody), ([224], 3, .nobody),
    ]

    private static func reach(v4 bytes: ArraySlice<UInt8>) -> Reach {
        ranges.first { begins(bytes, $0.network, bits: $0.bits) }?.reach ?? .everyone
    }

    private var reachOfV6: Reach {
        let zeros = [UInt8](repeating: 0, count: 16)
        func isIn(_ network: [UInt8], _ bits: Int) -> Bool { Self.begins(bytes[...], network, bits: bits) }
        if bytes == zeros.dropLast() + [1] { return .loopback }
        let mapped = zeros[..<10] + [0xff, 0xff]
        let translated = zeros[..<8] + [0xff, 0xff, 0, 0]
        let wellKnownNAT64 = [0, 0x64, 0xff, 0x9b] + zeros[..<8]
        if isIn(Array(mapped), 96) || isIn(Array(translated), 96) || isIn(wellKnownNAT64, 96) {
            return Self.reach(v4: bytes[12...])
        }
        if isIn([0x20, 0x02], 16) { return Self.reach(v4: bytes[2..<6]) }  // 6to4
        if isIn([0, 0x64, 0xff, 0x9b, 0, 1], 48) || isIn([0xfc], 7) || isIn([0xfe, 0xc0], 10) { return .privateNetwork }
        // Teredo addresses conceal an IPv4 address; the others are for documentation, benchmarks and overlay identifiers.
        if isIn([0x20, 0x01, 0, 0], 23) || isIn([0x20, 0x01, 0x0d, 0xb8], 32) || isIn([0x3f, 0xff, 0], 20) { return .nobody }
        return isIn([0x20], 3) ? .everyone : .nobody
    }

    /// Returns whether the first `bits` bits are those of `network`, whose trailing zero bytes can be omitted.
    static func begins(_ bytes: ArraySlice<UInt8>, _ network: [UInt8], bits: Int) -> Bool {
        (0..<(bits + 7) / 8).allSatisfy { position in
            let mask = UInt8(truncatingIfNeeded: 0xff00 >> min(8, bits - 8 * position))
            let wanted = position < network.count ? network[position] : 0
            return bytes[bytes.startIndex + position] & mask == wanted & mask
        }
    }
}
