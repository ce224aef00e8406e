import Arguments
import Contract
import Glibc
import JSON
import Mintmark

/// The document in `serve --apply`.
struct ApplyFile {
    /// The option or variable with the path, and the path.
    private let place: String
    private let document: JSONText

    /// - Throws: `ValidationError` if the file cannot be read or is not JSON.
    init(_ given: OptionValue) throws {
        let path = given.value
        place = "\(given.source) \(given.value)"
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw ValidationError("\(place) cannot be read: \(String(cString: strerror(errno))).") }
        defer { close(file) }
        guard let bytes = InputFile.readAll(file) else {
            throw ValidationError("\(place) cannot be read: \(String(cString: strerror(errno))).")
        }
        do { document = try JSONText(bytes) } catch { throw ValidationError("\(place) is not JSON: \(error).") }
        guard document.root.kind == .object else {
            throw ValidationError(
                "\(place) contains no JSON object. The document has the form {\"pools\": […], \"roles\": […], \"tenants\": […]}; see mintmark describe system.apply."
            )
        }
    }

    /// Makes the store match the document.
    ///
    /// - Throws: `ExitCode` after the errors have been printed.
    func apply(to mintmark: Mintmark) throws {
        do { try mintmark.apply(document.root) } catch {
            Printing.err("\(place):")
            throw Printing.failure(error)
        }
    }
}
