package mintmark;

/** The thread was interrupted while it waited; it still is. The call was cancelled; it may have taken effect nevertheless. */
public final class CallInterruptedException extends MintmarkException {
    private static final long serialVersionUID = 1;

    CallInterruptedException(String call) {
        super(call + " was given up: its thread was interrupted. It was cancelled; it may have taken effect nevertheless.");
    }
}
