/// A range of IP addresses in CIDR notation (RFC 4632, RFC 4291 §2.3): an address, or the addresses that share its first bits.
public struct NetworkRange: Hashable, Sendable {
    private let network: [UInt8]
    private let bits: Int
    /// The range as it was written.
    public let text: String

    /// Parses an address such as `203.0.113.7`, or a range such as `203.0.113.0/24` or `2001:db8::/32`.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = NetworkAddress(String(parts[0])), !text.hasPrefix("[") else { return nil }
        let all = address.bytes.count * 8
        var bits = all
        if parts.count == 2 {
            guard 1...3 ~= parts[1].utf8.count, parts[1].utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let length = Int(parts[1]), length <= all
            else { return nil }
            bits = length
        }
        let mapped = NetworkAddress.mappedPrefix
        if address.bytes.starts(with: mapped), bits >= mapped.count * 8 {
            (network, self.bits) = (Array(address.bytes.dropFirst(mapped.count)), bits - mapped.count * 8)
        } else {
            (network, self.bits) = (address.bytes, bits)
        }
        self.text = text
    }

    /// Whether the range contains every address of its kind.
    public var isEverything: Bool { bits == 0 }

    /// Returns whether the range contains an address. An IPv4 address that is embedded in an IPv6 address counts as the former.
    public func contains(_ address: NetworkAddress) -> Bool {
        let mapped = NetworkAddress.mappedPrefix
        let bytes = address.bytes.starts(with: mapped) ? address.bytes.dropFirst(mapped.count) : address.bytes[...]
        return bytes.count == network.count && NetworkAddress.begins(bytes, network, bits: bits)
    }

    public static func == (one: NetworkRange, other: NetworkRange) -> Bool { one.network == other.network && one.bits == other.bits }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(network)
        hasher.combine(bits)
    }
}
