import COpenSSL

/// Named parameters for OpenSSL (OSSL_PARAM). Owns a copy of every value, which is erased together with the list.
struct ParameterList: ~Copyable {
    private var entries: [OSSL_PARAM] = []
    private var values: [SecretBytes] = []

    mutating func text(_ name: StaticString, _ value: StaticString) {
        // Some functions of OpenSSL read the text up to a NUL byte regardless of the size: the NUL must be present but not be included in
        // the size.
        add(name, OSSL_PARAM_UTF8_STRING, SecretBytes(value.withUTF8Buffer { Array($0) } + [0]), size: value.utf8CodeUnitCount)
    }

    mutating func octets(_ name: StaticString, _ value: some Sequence<UInt8>) {
        add(name, OSSL_PARAM_OCTET_STRING, SecretBytes(Array(value)))
    }

    mutating func octets(_ name: StaticString, _ value: SecretBytes) {
        add(name, OSSL_PARAM_OCTET_STRING, value)
    }

    /// Adds an unsigned number given in big-endian order; OpenSSL requires the native byte order.
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

    /// Calls `body` with the list in the form that OpenSSL reads.
    borrowing func withParameters<R>(_ body: (UnsafePointer<OSSL_PARAM>) -> R) -> R {
        let list = entries + [OSSL_PARAM_construct_end()]
        return withExtendedLifetime(values) { list.withUnsafeBufferPointer { body($0.baseAddress!) } }
    }
}
