import CGuard
import Glibc

/// Who may see the memory of this process, and for how long it holds what was secret.
public enum ProcessMemory {
    /// Keeps the memory out of core files, and from other processes of this user. Call it before anything secret is read.
    public static func forbidCoreDumps() { guard_forbid_core_dumps() }

    /// Takes `forbidCoreDumps` back, for debugging.
    public static func allowCoreDumps() { guard_allow_core_dumps() }

    /// Notes that this thread handles something secret that is short enough to lie on its stack.
    public static func noteSecret() { guard_note_secret() }

    /// Overwrites what functions that have returned left on this thread's stack, if a secret was noted.
    public static func wipeStack() { guard_wipe_stack() }

    /// Clears this thread's vector registers, which keep what was copied last.
    public static func wipeRegisters() { guard_wipe_registers() }
}

extension [UInt8] {
    /// Removes the elements from `count` on and overwrites them. The memory itself is kept for what comes next.
    public mutating func wipe(from count: Int = 0) {
        guard count < self.count else { return }
        withUnsafeMutableBytes { _ = memset($0.baseAddress! + count, 0, $0.count - count) }
        removeSubrange(count...)
    }
}
