import CGuard
import Glibc

/// Protects the memory of this process from other processes and removes secrets that are no longer needed.
public enum ProcessMemory {
    /// Excludes the memory from core files and from access by other processes of this user. Must be called before any secret is read.
    public static func forbidCoreDumps() { guard_forbid_core_dumps() }

    /// Reverts `forbidCoreDumps`, for debugging.
    public static func allowCoreDumps() { guard_allow_core_dumps() }

    /// Records that this thread handles a secret that is short enough to be stored on its stack.
    public static func noteSecret() { guard_note_secret() }

    /// Whether this thread recorded a secret since its stack was last wiped.
    public static var hasSecret: Bool { guard_has_secret() }

    /// Overwrites the stack frames of functions that have returned, if this thread recorded a secret.
    public static func wipeStack() { guard_wipe_stack() }

    /// Clears the vector registers of this thread, which keep recently copied data.
    public static func wipeRegisters() { guard_wipe_registers() }
}

extension [UInt8] {
    /// Removes the elements from index `count` on and overwrites their memory. The capacity does not change.
    public mutating func wipe(from count: Int = 0) {
        guard count < self.count else { return }
        withUnsafeMutableBytes { _ = memset($0.baseAddress! + count, 0, $0.count - count) }
        removeSubrange(count...)
    }
}
