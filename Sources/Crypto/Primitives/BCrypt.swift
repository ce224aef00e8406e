import Glibc

/// bcrypt (Provos and Mazières, 1999), computed by libcrypt of this machine, which is part of every Debian installation.
///
/// The library is loaded at the first use: only imported hashes need it.
public enum BCrypt {
    /// The length of a hash such as `$2b$12$…`, in bytes, and of its part before the digest.
    public static let (count, settingCount) = (60, 29)
    /// The length up to which bcrypt considers a password, in bytes.
    static let passwordCount = 72

    /// libcrypt is missing, or does not support bcrypt.
    public struct Unavailable: Error, Hashable, Sendable {}

    private typealias Function =
        @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeMutableRawPointer) -> UnsafeMutablePointer<CChar>?

    /// `crypt_r`, if it computes a known hash correctly.
    private static let function: Function? = {
        guard let library = dlopen("libcrypt.so.1", RTLD_NOW | RTLD_LOCAL), let symbol = dlsym(library, "crypt_r") else { return nil }
        let function = unsafeBitCast(symbol, to: Function.self)
        let known = "$2b$04$CCCCCCCCCCCCCCCCCCCCC."
        guard let first = call(function, Array("U*U".utf8), Array(known.utf8)), first.count == count,
            first.starts(with: known.utf8), call(function, Array("U*V".utf8), Array(known.utf8)) != first
        else { return nil }
        return function
    }()

    public static var isAvailable: Bool { function != nil }

    /// The cost of a hash, as the logarithm to base 2 of the number of rounds; `nil` if the text is not a bcrypt hash.
    public static func cost(of hash: [UInt8]) -> Int? {
        let letters = Set("./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)
        guard hash.count == count, hash.starts(with: "$2".utf8), "abxy".utf8.contains(hash[2]), hash[3] == 0x24, hash[6] == 0x24,
            hash[7...].allSatisfy(letters.contains)
        else { return nil }
        return Int(String(decoding: hash[4..<6], as: UTF8.self))
    }

    /// Returns the hash of a password, or an empty array if the password is longer than 72 bytes, or libcrypt refuses it or the setting.
    ///
    /// - Parameter setting: The hash up to its salt, 29 bytes.
    /// - Throws: `Unavailable`.
    public static func hash(_ password: SecretBytes, setting: [UInt8]) throws(Unavailable) -> [UInt8] {
        guard let function else { throw Unavailable() }
        return password.withUnsafeBytes { call(function, Array($0), setting) } ?? []
    }

    private static func call(_ function: Function, _ password: [UInt8], _ setting: [UInt8]) -> [UInt8]? {
        // A password with a NUL would be cut there, and a long one at its end. Both would equal a shorter one.
        guard !password.contains(0), password.count <= passwordCount, !setting.contains(0) else { return nil }
        // struct crypt_data has 32 KiB in libxcrypt, and 128 KiB in old versions of glibc. It must be zero at first.
        let space = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
        space.initializeMemory(as: UInt8.self, repeating: 0)
        defer {
            space.wipe()
            space.deallocate()
        }
        var text = password.map { CChar(bitPattern: $0) } + [0]
        defer { text.withUnsafeMutableBytes { $0.wipe() } }
        guard let result = function(text, setting.map { CChar(bitPattern: $0) } + [0], space.baseAddress!) else { return nil }
        return Array(UnsafeBufferPointer(start: result, count: strlen(result))).map { UInt8(bitPattern: $0) }
    }
}
