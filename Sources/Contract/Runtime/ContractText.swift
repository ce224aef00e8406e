import Platform
import Synchronization

/// The place of a text of the contract in the compressed texts.
struct ContractText: Sendable {
    let block: Int
    let start: Int
    let count: Int

    /// The block that was read last: texts are often read one after the other.
    private static let latest = Mutex<(block: Int, bytes: [UInt8])?>(nil)

    /// The text, as UTF-8.
    var bytes: ArraySlice<UInt8> {
        Self.latest.withLock { latest in
            if let latest, latest.block == block { return latest.bytes[start..<start + count] }
            let bytes = CompressedText.bytes(Self.blocks[block])
            // The block with the components of the OpenRPC document, 0.4 MB, is not kept.
            if bytes.count < 1 << 17 { latest = (block, bytes) }
            return bytes[start..<start + count]
        }
    }

    /// The lines of the text.
    var lines: [String] { bytes.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) } }
}
