import MintmarkClient
import SwiftClientDriver

await runDriver { options in
    // Use `testing()` for steps that need no further options.
    guard options.testing, options.store == ":memory:", options.arguments.isEmpty, options.binary == nil else {
        return try await Mintmark.start(options)
    }
    return try await Mintmark.testing(log: .discarded)
}
