import Contract
import JSON
import JSONRPC
import ServiceContext

extension Faults {
    /// - Throws: The error that a test has injected for this call.
    func meet(_ call: Call) throws { if let error = error(of: call.method) { throw error } }
}

extension ChosenError: ResponseError {
    public func writeData(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("type")
        writer.string(type)
        for (name, value) in data.members {
            writer.key(name)
            writer.value(value)
        }
        writer.endObject()
    }
}
