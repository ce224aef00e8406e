import Glibc
import JSON
import Platform
import Synchronization

/// The imports that were started in the console.
final class ImportJobs: Sendable {
    struct Job: Sendable {
        let lines: Int
        let isDryRun: Bool
        var progress: JSONValue?
        var result: JSONValue?
        var error: JSONValue?

        var isOver: Bool { result != nil || error != nil }
    }

    private struct State {
        var jobs: [Job] = []
        var folder: String?
    }

    private let state = Mutex(State())

    subscript(_ number: Int) -> Job? { state.withLock { $0.jobs.indices.contains(number - 1) ? $0.jobs[number - 1] : nil } }

    /// Creates an empty file that only this user can read. Returns its path and descriptor.
    func newFile() -> (path: String, descriptor: Int32)? {
        let folder = state.withLock { state -> String? in
            if let folder = state.folder { return folder }
            var template = Array("\(getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp")/mintmark-console-XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else { return nil }
            state.folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            return state.folder
        }
        guard let folder else { return nil }
        var template = Array("\(folder)/import-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { return nil }
        return (String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self), descriptor)
    }

    /// Starts an import of a file, which is removed afterwards. Returns the number of the job.
    func start(_ calls: Calls, path: String, lines: Int, params: JSONObject) -> Int {
        let number = state.withLock { state in
            state.jobs.append(Job(lines: lines, isDryRun: params["dryRun"]?.bool == true))
            return state.jobs.count
        }
        var params = params
        params["file"] = .string(path)
        let given = params
        let run: @Sendable () -> Void = { [self] in
            defer { unlink(path) }
            do throws(CallError) {
                let result = try calls.call("account.import", given) { value in
                    self.state.withLock { $0.jobs[number - 1].progress = value }
                }
                state.withLock { $0.jobs[number - 1].result = result }
            } catch {
                let object = calls.masked(error: error)
                state.withLock { $0.jobs[number - 1].error = object }
            }
        }
        if !Thread.start(name: "console import", run) { run() }
        return number
    }

    /// Removes the folder of the files.
    func removeFiles() {
        guard let folder = state.withLock({ $0.folder }) else { return }
        if let directory = opendir(folder) {
            while let entry = readdir(directory) {
                let name = withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
                if name != ".", name != ".." { unlink("\(folder)/\(name)") }
            }
            closedir(directory)
        }
        rmdir(folder)
    }
}
