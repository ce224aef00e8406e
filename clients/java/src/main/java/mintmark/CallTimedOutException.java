package mintmark;

import java.time.Duration;

/** The call took longer than its time limit. It was canceled but may have taken effect. */
public final class CallTimedOutException extends MintmarkException {
    private static final long serialVersionUID = 1;

    CallTimedOutException(String call, Duration timeout) {
        super(call + " was not answered within " + timeout.toMillis() / 1000.0 + " s. It was cancelled; it may have taken effect nevertheless.");
    }
}
