import MintmarkClient
import SwiftClientDriver

await runDriver { options in
    // What testing() is told, it is told by its own name.
    guard options.testing, options.store == ":memory:", options.arguments.isEmpty, options.binary == nil else {
        return try await Mintmark.start(options)
    }
    return try await Mintmark.testing(log: .discarded)
}
