package mintmark;

/** The thread was interrupted while it waited; its interrupt status is set. The call was canceled but may have taken effect. */
public final class CallInterruptedException extends MintmarkException {
    private static final long serialVersionUID = 1;

    CallInterruptedException(String call) {
        super(call + " was given up: its thread was interrupted. It was cancelled; it may have taken effect nevertheless.");
    }
}
