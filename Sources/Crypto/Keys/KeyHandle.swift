import COpenSSL
import Synchronization

/// An OpenSSL key. Several threads can use a key at the same time if each has its own contexts.
final class KeyHandle: @unchecked Sendable {
    let pointer: OpaquePointer
    /// The unique number of this key in every thread's `ContextCache`. An address could be reused for another key.
    let serial: UInt64

    /// Contexts that are ready to verify with this key, in the library context of the key. No thread uses them at present.
    private let idle = Mutex(IdleContexts())

    private static let serials = Atomic<UInt64>(0)

    /// Takes ownership of a key.
    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
        serial = Self.serials.add(1, ordering: .relaxed).newValue
    }

    deinit {
        idle.withLock { idle in for context in idle.contexts { EVP_PKEY_CTX_free(context) } }
        EVP_PKEY_free(pointer)
    }

    private struct IdleContexts: @unchecked Sendable {
        static let most = 4
        var contexts: [OpaquePointer] = []
    }

    /// Returns a context that is ready to verify, or `nil` if all are in use. The caller gives it back with `keep`.
    func takeIdleContext() -> OpaquePointer? { idle.withLock { $0.contexts.popLast() } }

    /// Keeps a context for the next verification. Making one takes two searches in OpenSSL's tables, under locks that all threads share.
    func keep(_ context: OpaquePointer) {
        let isKept = idle.withLock { idle in
            guard idle.contexts.count < IdleContexts.most else { return false }
            idle.contexts.append(context)
            return true
        }
        if !isKept { EVP_PKEY_CTX_free(context) }
    }

    /// The parts of a key.
    enum Parts { case publicPart, pair }

    /// Creates a key from its numbers. Returns `nil` if OpenSSL rejects them.
    static func make(type: String, _ parts: Parts, _ parameters: borrowing ParameterList) -> KeyHandle? {
        guard let context = EVP_PKEY_CTX_new_from_name(nil, type, nil) else { return nil }
        defer { EVP_PKEY_CTX_free(context) }
        var selection = OSSL_KEYMGMT_SELECT_DOMAIN_PARAMETERS | OSSL_KEYMGMT_SELECT_PUBLIC_KEY
        if parts == .pair { selection |= OSSL_KEYMGMT_SELECT_PRIVATE_KEY }
        var key: OpaquePointer?
        let made = parameters.withParameters { parameters in
            EVP_PKEY_fromdata_init(context) == 1
                && EVP_PKEY_fromdata(context, &key, selection, UnsafeMutablePointer(mutating: parameters)) == 1
        }
        guard made, let key else {
            ERR_clear_error()
            return nil
        }
        return KeyHandle(key)
    }

    /// Returns whether the key passes one of OpenSSL's checks.
    func passes(_ check: (OpaquePointer) -> Int32) -> Bool {
        guard let context = EVP_PKEY_CTX_new_from_pkey(nil, pointer, nil) else { cannotContinue("allocate a context") }
        defer { EVP_PKEY_CTX_free(context) }
        if check(context) == 1 { return true }
        ERR_clear_error()
        return false
    }

    /// Returns a number of the key in big-endian order, without leading zeros unless `count` requires more bytes.
    func number(_ name: String, count: Int? = nil) -> SecretBytes {
        var number: OpaquePointer?
        guard EVP_PKEY_get_bn_param(pointer, name, &number) == 1, let number else { cannotContinue("read \(name) of a key") }
        defer { BN_clear_free(number) }
        return SecretBytes(count: count ?? (Int(BN_num_bits(number)) + 7) / 8) { bytes in
            if BN_bn2binpad(number, bytes.bytes, Int32(bytes.count)) < 0 { cannotContinue("read \(name) of a key") }
        }
    }

    /// Returns the public point of an elliptic curve key in uncompressed form: 4, x, y.
    func point(_ curve: Curve) -> [UInt8] {
        let count = 1 + 2 * curve.coordinateCount
        return [UInt8](unsafeUninitializedCapacity: count) { bytes, initialized in
            let done = EVP_PKEY_get_octet_string_param(pointer, "pub", bytes.baseAddress, count, &initialized)
            guard done == 1, initialized == count else { cannotContinue("read the point of a key") }
        }
    }

    /// Returns the public part of an Ed25519 key.
    func ed25519Public() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 32) { bytes, initialized in
            initialized = 32
            if EVP_PKEY_get_raw_public_key(pointer, bytes.baseAddress, &initialized) != 1 { cannotContinue("read a public key") }
        }
    }
}
