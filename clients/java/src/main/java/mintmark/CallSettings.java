package mintmark;

import java.time.Duration;
import java.util.Map;
import java.util.function.Consumer;

/** How long a call may take, what stands in the logs and audit records for it, and who gets what it tells of its progress; null for nothing. */
record CallSettings(Duration timeout, String trace, Consumer<Map<String, Object>> progress) {
    /** A time limit that an application gave; null for none. */
    static Duration checked(Duration timeout) {
        if (timeout != null && (timeout.isNegative() || timeout.isZero())) {
            throw new IllegalArgumentException("A timeout is more than nothing; leave it out for as long as it takes.");
        }
        return timeout;
    }

    /** A time limit in nanoseconds; the longest there is for none. */
    static long nanoseconds(Duration timeout) {
        try {
            return timeout == null ? Long.MAX_VALUE : timeout.toNanos();
        } catch (ArithmeticException centuries) {
            return Long.MAX_VALUE;
        }
    }
}
