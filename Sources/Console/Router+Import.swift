import Contract
import Crypto
import Glibc
import JSON
import Loopback

extension Router {
    /// Receives the form of an import. The file goes to a private file of this process, part by part.
    func importUpload(_ stream: LoopbackStream, _ request: PageRequest) {
        let page = Page(parts, request)
        if let refusal = page.refusalToWrite("account.import") { return stream.answer(refusal) }
        guard var reader = MultipartReader(contentType: request.headers.header("content-type") ?? "") else {
            return stream.answer(page.message(400, "Not a form", "Send the form of the page Import, as multipart/form-data."))
        }
        guard let file = parts.imports.newFile() else {
            return stream.answer(page.message(500, "No room", "The file cannot be stored in the temporary folder (TMPDIR)."))
        }
        var form = Fields()
        var lines = 0
        var last: UInt8 = 0x0A
        let problem = receive(stream, &reader) { event -> Bool in
            switch event {
            case .field(let name, let value): form.add(name, value)
            case .file(let bytes):
                lines += bytes.count { $0 == 0x0A }
                last = bytes.last ?? last
                return Self.write(bytes, to: file.descriptor)
            }
            return true
        }
        if last != 0x0A { lines += 1 }
        close(file.descriptor)
        guard problem == nil, constantTimeEquals(form["_token"] ?? "", request.formToken) else {
            unlink(file.path)
            let response = problem.map { page.message(400, "The upload failed", $0) }
            return stream.answer(response ?? page.forbidden("The form has no valid token. Reload its page and send it again."))
        }
        var params = Page.importSchema.map { FormParams(schema: $0).params(form) } ?? [:]
        for name in ["file", "accounts", "from"] { params[name] = nil }
        let number = parts.imports.start(parts.calls, path: file.path, lines: lines, params: params)
        stream.answer(.redirect(to: "/import/\(number)"))
    }

    /// Returns the problem, or `nil` after the whole form was received.
    private func receive(_ stream: LoopbackStream, _ reader: inout MultipartReader, _ take: (MultipartReader.Event) -> Bool) -> String? {
        while true {
            guard let part = stream.read() else { return "The connection ended before the end of the form. Nothing was imported." }
            guard let events = reader.take(part) else { return "The form is not valid multipart/form-data, or a field is too long." }
            for event in events where !take(event) { return "The file could not be stored. Free space in the temporary folder (TMPDIR)." }
            if part.isEmpty { return reader.isComplete ? nil : "The form ends in the middle. Nothing was imported." }
        }
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress! + done, $0.count - done) }
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return false }
            done += count
        }
        return true
    }
}
