package mintmark;

import java.time.Duration;
import java.util.Map;
import java.util.function.Consumer;

/** The time limit, the trace and the progress listener of a call; each is null if not set. */
record CallSettings(Duration timeout, String trace, Consumer<Map<String, Object>> progress) {
    /** Checks a time limit from the application. Null means no limit. */
    static Duration checked(Duration timeout) {
        if (timeout != null && (timeout.isNegative() || timeout.isZero())) {
            throw new IllegalArgumentException("A timeout must be positive. Omit it to wait without a limit.");
        }
        return timeout;
    }

    /** The time limit in nanoseconds; Long.MAX_VALUE for no limit. */
    static long nanoseconds(Duration timeout) {
        try {
            return timeout == null ? Long.MAX_VALUE : timeout.toNanos();
        } catch (ArithmeticException centuries) {
            return Long.MAX_VALUE;
        }
    }
}
