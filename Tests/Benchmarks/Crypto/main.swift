import Crypto
import Glibc
import Platform

// Compares the signatures and verifications per second of this module on two threads with those of `openssl speed` on
// two processes:
//
//     swift run -c release CryptoBenchmark [rounds]
//
// The speed of a shared machine varies, so both are measured alternately, and the medians are printed.

let threads = 2
let seconds = 1.0
let rounds = CommandLine.arguments.dropFirst().first.flatMap(Int.init) ?? 5

/// The number of operations per second on all threads together.
func rate(_ operation: @escaping @Sendable () -> Void) -> Double {
    let total = ConditionLock((finished: 0, count: 0))
    for number in 0..<threads {
        _ = Thread.start(name: "measure \(number)") {
            let end = Monotonic.nanoseconds() + UInt64(seconds * 1e9)
            var count = 0
            while Monotonic.nanoseconds() < end {
                for _ in 0..<64 { operation() }
                count += 64
            }
            total.withLock {
                $0.finished += 1
                $0.count += count
            }
            total.broadcast()
        }
    }
    return Double(total.wait { $0.finished == threads ? $0.count : nil }) / seconds
}

/// The signatures and verifications per second that `openssl speed` reports.
func limit() -> (sign: Double, verify: Double) {
    guard let pipe = popen("openssl speed -multi \(threads) -seconds 1 ecdsap256 2>/dev/null", "r") else { return (0, 0) }
    defer { pclose(pipe) }
    var line = [CChar](repeating: 0, count: 1024)
    var last = ""
    while fgets(&line, Int32(line.count), pipe) != nil {
        last = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    let numbers = last.split(whereSeparator: \.isWhitespace).suffix(2).compactMap { Double($0) }
    return numbers.count == 2 ? (numbers[0], numbers[1]) : (0, 0)
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

func show(_ name: String, _ text: String) {
    print(name + String(repeating: " ", count: max(1, 44 - name.utf8.count)) + text)
}

/// Prints the duration of an operation that happens once per process.
func once<R>(_ name: String, _ operation: () throws -> R) rethrows -> R {
    let start = Monotonic.nanoseconds()
    let result = try operation()
    show(name, "\((Monotonic.nanoseconds() - start) / 1000) µs")
    return result
}

once("start OpenSSL") { OpenSSLRuntime.start() }
_ = once("first random bytes") { SystemRandom().bytes(32) }
let key = try once("ES256 key made") { try PrivateKey.generate(.ES256) }
let stored = once("and written") { key.pkcs8 }
_ = try once("and read") { try PrivateKey(pkcs8: stored, algorithm: .ES256) }
let publicKey = key.publicKey
let message = Array("a message".utf8)
let signature = try key.sign(message)
let payload = [UInt8](repeating: UInt8(ascii: "p"), count: 320)
let signer = JWSSigner(key, type: "pool+jwt")
let token = Array(try signer.sign(payload).utf8)

let measured: [(name: String, isSigning: Bool, operation: @Sendable () -> Void)] = [
    ("ES256 signed", true, { _ = try? key.sign(message) }),
    ("JWS of 320 bytes signed", true, { _ = try? signer.sign(payload) }),
    ("ES256 verified", false, { _ = publicKey.verify(signature, of: message) }),
    ("JWS parsed and verified", false, { _ = try? JWS.parse(token).verify(with: publicKey) }),
]

for (name, isSigning, operation) in measured {
    var rates: [Double] = []
    var ratios: [Double] = []
    for _ in 0..<rounds {
        let before = limit()
        let ours = rate(operation)
        let after = limit()
        let theirs = isSigning ? (before.sign + after.sign) / 2 : (before.verify + after.verify) / 2
        rates.append(ours)
        ratios.append(ours / theirs)
    }
    show(name, "\(Int(median(rates)))/s, \(Int(median(ratios) * 100)) % of openssl speed")
}
show("JWS parsed", "\(Int(rate { _ = try? JWS.parse(token) }))/s")
show("SHA-256 of 9 bytes", "\(Int(rate { _ = Hash.sha256(message) }))/s")
show("HMAC-SHA-256 of 9 bytes", "\(Int(rate { _ = HMAC.sha256(key: message, message) }))/s")
show("16 random bytes", "\(Int(rate { _ = SystemRandom().bytes(16) }))/s")
