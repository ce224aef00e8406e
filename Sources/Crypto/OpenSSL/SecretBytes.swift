import COpenSSL
import Glibc

/// Bytes that are erased when the last reference is released: keys, passwords, private parts.
///
/// Descriptions never contain the bytes. There is no `==`; use `constantTimeEquals`.
public final class SecretBytes: @unchecked Sendable, CustomStringConvertible {
    // Written only during initialization.
    private let storage: UnsafeMutableRawBufferPointer

    /// Copies `bytes` and erases the passed array, if it is not shared.
    public init(_ bytes: consuming [UInt8]) {
        storage = .allocate(byteCount: bytes.count, alignment: 16)
        storage.copyBytes(from: bytes)
        bytes.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
    }

    /// Creates a copy of `bytes`.
    public init(copying bytes: UnsafeRawBufferPointer) {
        storage = .allocate(byteCount: bytes.count, alignment: 16)
        storage.copyMemory(from: bytes)
    }

    /// Creates `count` zero bytes and calls `fill` to write them. If `fill` throws, the bytes are erased.
    public init<E: Error>(count: Int, fill: (UnsafeMutableRawBufferPointer) throws(E) -> Void) throws(E) {
        storage = .allocate(byteCount: count, alignment: 16)
        storage.initializeMemory(as: UInt8.self, repeating: 0)
        try fill(storage)
    }

    deinit {
        OPENSSL_cleanse(storage.baseAddress, storage.count)
        storage.deallocate()
    }

    /// The number of bytes.
    public var count: Int { storage.count }

    /// Calls `body` with the bytes, which are valid only during the call.
    public func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        try body(UnsafeRawBufferPointer(storage))
    }

    /// Compares bytes in constant time, so that the duration does not reveal the position of a difference.
    public func constantTimeEquals(_ other: SecretBytes) -> Bool {
        count == other.count && CRYPTO_memcmp(storage.baseAddress, other.storage.baseAddress, count) == 0
    }

    public var description: String { "<\(count) secret bytes>" }
}
