import MintmarkClient
import MintmarkInProcess
import SwiftClientDriver

/// An argument in a transcript that has no equivalent option.
struct UnknownArgument: Error { let argument: String }

await runDriver { options in
    var options = options
    var rest = options.arguments[...]
    while let word = rest.popFirst() {
        guard word == "--clock", let moment = rest.popFirst().flatMap({ Int($0) }) else { throw UnknownArgument(argument: word) }
        options.clock = Timestamp(moment)
    }
    return try await Mintmark.inProcess(options)
}
