import MintmarkClient
import SwiftClientDriver

await runDriver { try await Mintmark.start($0) }
