package mintmark;

import java.time.Duration;

/** The call took longer than its time limit. It was canceled but may have taken effect. */
public final class CallTimeoutException extends MintmarkException {
    private static final long serialVersionUID = 1;

    CallTimeoutException(String method, Duration timeout) {
        super(method + " took longer than its time limit of " + timeout.toMillis() / 1000.0
                + " s and was canceled. The call may have taken effect. Set a longer limit with withTimeout(…) or options.timeout(…).");
    }
}
