import COpenSSL

/// OpenSSL numbers for one computation. They are erased at its end.
final class BigNumbers {
    let context: OpaquePointer
    private var numbers: [OpaquePointer] = []

    init() {
        guard let context = BN_CTX_new() else { cannotContinue("allocate a number") }
        self.context = context
    }

    deinit {
        for number in numbers { BN_clear_free(number) }
        BN_CTX_free(context)
    }

    func new() -> OpaquePointer {
        guard let number = BN_new() else { cannotContinue("allocate a number") }
        numbers.append(number)
        return number
    }

    /// - Parameter bytes: The number in big-endian order.
    func number(_ bytes: [UInt8]) -> OpaquePointer {
        let number = new()
        BN_bin2bn(bytes, Int32(bytes.count), number)
        return number
    }

    /// Returns a number in big-endian order, without leading zeros unless `count` requires more bytes.
    func bytes(_ number: OpaquePointer, count: Int? = nil) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count ?? (Int(BN_num_bits(number)) + 7) / 8)
        if BN_bn2binpad(number, &bytes, Int32(bytes.count)) < 0 { cannotContinue("read a number") }
        return bytes
    }
}
