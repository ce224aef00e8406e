import COpenSSL

/// Named values for OpenSSL (OSSL_PARAM). Owns a copy of every value, which is wiped with the list.
struct ParameterList: ~Copyable {
    private var entries: [OSSL_PARAM] = []
    private var values: [SecretBytes] = []

    mutating func text(_ name: StaticString, _ value: StaticString) {
        // Some readers take the text up to its NUL, whatever size is given: it must stand there, and not count.
        add(name, OSSL_PARAM_UTF8_STRING, SecretBytes(value.withUTF8Buffer { Array($0) } + [0]), size: value.utf8CodeUnitCount)
    }

    mutating func octets(_ name: StaticString, _ value: some Sequence<UInt8>) {
        add(name, OSSL_PARAM_OCTET_STRING, SecretBytes(Array(value)))
    }

    mutating func octets(_ name: StaticString, _ value: SecretBytes) {
        add(name, OSSL_PARAM_OCTET_STRING, value)
    }

    /// An unsigned number given with its most significant byte first; OpenSSL wants the machine's order.
    mutating func number(_ name: StaticString, _ bigEndian: UnsafeRawBufferPointer) {
        add(name, OSSL_PARAM_UNSIGNED_INTEGER, SecretBytes(count: bigEndian.count) { $0.copyBytes(from: bigEndian.reversed()) })
    }

    mutating func number(_ name: StaticString, _ bigEndian: [UInt8]) {
        bigEndian.withUnsafeBytes { number(name, $0) }
    }

    mutating func number(_ name: StaticString, _ bigEndian: SecretBytes) {
        bigEndian.withUnsafeBytes { number(name, $0) }
    }

    private mutating func add(_ name: StaticString, _ type: Int32, _ value: SecretBytes, size: Int? = nil) {
        values.append(value)
        value.withUnsafeBytes { bytes in
            let name = UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
            let data = UnsafeMutableRawPointer(mutating: bytes.baseAddress)
            entries.append(OSSL_PARAM(key: name, data_type: UInt32(type), data: data, data_size: size ?? bytes.count, return_size: 0))
        }
    }

    /// Hands out the list as OpenSSL reads it.
    borrowing func withParameters<R>(_ body: (UnsafePointer<OSSL_PARAM>) -> R) -> R {
        let list = entries + [OSSL_PARAM_construct_end()]
        return withExtendedLifetime(values) { list.withUnsafeBufferPointer { body($0.baseAddress!) } }
    }
}
