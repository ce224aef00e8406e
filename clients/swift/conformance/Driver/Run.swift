import Glibc
import MintmarkClient

/// The members of a step.
typealias Step = JSONObject

/// The error that the simulated backend throws.
struct BackendDown: Error, CustomStringConvertible { let description = "the backend is down" }

/// The driver cannot perform a step.
struct Fault: Error { let reason: String }

/// The complete outcome of a step.
struct Told: Error { let answer: JSONValue }

func described(_ error: any Error) -> JSONValue {
    var name = "\(type(of: error))"
    if name.hasSuffix("Error") { name.removeLast(5) }
    var told: JSONObject = ["kind": .string(kind(error)), "class": .string(name), "message": .string("\(error)")]
    let answer = (error as? any APIError)?.answer ?? (error as? BinaryTooOldError)?.answer
    if let answer {
        told["code"] = answer.code.wire
        told["type"] = .string(answer.type)
        told["data"] = .object(answer.data)
        if let trace = answer.trace { told["trace"] = .string(trace) }
        if error is any APIError { told["message"] = .string(answer.message) }
    }
    return .object(told)
}

func kind(_ error: any Error) -> String {
    switch error {
    case is any APIError: "answered"
    case is UsageError: "refused"
    case is BinaryNotFoundError: "notFound"
    case is BinaryTooOldError: "tooOld"
    case is ProtocolError: "garbage"
    case is ProcessEndedError: "ended"
    case is CallTimeoutError: "timedOut"
    case is CancellationError: "cancelled"
    case is ClientClosedError: "closed"
    case is BackendDown: "own"
    default: "unknown"
    }
}

func told(_ work: @Sendable () async throws -> JSONValue) async -> JSONValue {
    do { return ["result": try await work()] } catch let told as Told { return told.answer } catch let fault as Fault {
        return ["fault": .string(fault.reason)]
    } catch {
        return ["error": described(error)]
    }
}

/// Makes a client.
public typealias Open = @Sendable (Mintmark.Options) async throws -> Mintmark

/// The conformance driver of the Swift client; see clients/conformance/README.md. Performs steps until the end of the input.
public func runDriver(open: @escaping Open) async {
    // Writing to a closed pipe must not end the driver with SIGPIPE.
    signal(SIGPIPE, SIG_IGN)
    let driver = Driver(open: open)
    while let line = readLine() {
        let answer: JSONValue
        do {
            let step = try JSONValue(parsing: line).object ?? [:]
            answer = await told { try await driver.carryOut(step) }
        } catch { answer = ["fault": .string("the line is not read: \(error)")] }
        let bytes = answer.bytes + [UInt8(ascii: "\n")]
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { write(1, $0.baseAddress! + done, $0.count - done) }
            guard count > 0 else { return }
            done += count
        }
    }
}
