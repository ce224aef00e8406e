import COpenSSL
import Glibc

/// Bytes that are wiped when nobody holds them any more: keys, passwords, private parts.
///
/// They never show in descriptions and do not compare with `==`; use `constantTimeEquals`.
public final class SecretBytes: @unchecked Sendable, CustomStringConvertible {
    // Written only while the initialiser runs.
    private let storage: UnsafeMutableRawBufferPointer

    /// Takes over `bytes`: a copy that nobody else holds is wiped.
    public init(_ bytes: consuming [UInt8]) {
        storage = .allocate(byteCount: bytes.count, alignment: 16)
        storage.copyBytes(from: bytes)
        bytes.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
    }

    /// A copy of `bytes`.
    public init(copying bytes: UnsafeRawBufferPointer) {
        storage = .allocate(byteCount: bytes.count, alignment: 16)
        storage.copyMemory(from: bytes)
    }

    /// `count` bytes, zero until `fill` writes them. If it throws they are wiped.
    public init<E: Error>(count: Int, fill: (UnsafeMutableRawBufferPointer) throws(E) -> Void) throws(E) {
        storage = .allocate(byteCount: count, alignment: 16)
        storage.initializeMemory(as: UInt8.self, repeating: 0)
        try fill(storage)
    }

    /// `count` fresh bytes of `random`.
    public convenience init(random: some RandomSource, count: Int) {
        self.init(random.bytes(count))
    }

    deinit {
        OPENSSL_cleanse(storage.baseAddress, storage.count)
        storage.deallocate()
    }

    /// How many bytes there are.
    public var count: Int { storage.count }

    /// Hands out the bytes for as long as `body` runs.
    public func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try body(UnsafeRawBufferPointer(storage))
    }

    /// Compares without telling by its duration where the bytes differ.
    public func constantTimeEquals(_ other: SecretBytes) -> Bool {
        count == other.count && CRYPTO_memcmp(storage.baseAddress, other.storage.baseAddress, count) == 0
    }

    public var description: String { "<\(count) secret bytes>" }
}
