import Foundation
import MintmarkClient
import MintmarkInProcess
import Synchronization
import Testing

@Suite("Progress of calls", .timeLimit(.minutes(10)))
struct ProgressTests {
    @Test("progress is delivered to the reporting call only, before its result", arguments: [true, false])
    func progress(isInProcess: Bool) async throws {
        let m = try await isInProcess ? TestingMintmark.inProcess(log: .discarded) : byPipe()
        let heard = m.notifications
        let accounts = (0..<450).map { PortableAccount(email: "user\($0)@example.com") }
        let lines = Mutex<[Int]>([])
        let result = try await m.account.import(accounts: accounts) { progress in lines.withLock { $0.append(progress.nextLine) } }
        let told = lines.withLock { $0 }
        #expect(result.imported == 450)
        #expect(told.count >= 2 && zip(told, told.dropFirst()).allSatisfy { $0 < $1 } && told.first ?? 0 > 0)
        try await m.account.import(accounts: accounts, onExisting: .skip)
        #expect(lines.withLock { $0 } == told)
        await m.close()
        for await each in heard { Issue.record("it told \(each)") }
    }

    /// The program in the build directory of the tests.
    private func byPipe() async throws -> TestingMintmark {
        let tests = URL(filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
        let program = tests.deletingLastPathComponent().appending(path: "mintmark").path
        var options = Mintmark.Options()
        (options.binary, options.log) = (program, .discarded)
        return try await TestingMintmark.start(options)
    }
}
