package mintmark;

/** The thread was interrupted while it waited; its interrupt status is set. The call was canceled but may have taken effect. */
public final class CallCancelledException extends MintmarkException {
    private static final long serialVersionUID = 1;

    CallCancelledException(String method) {
        super(method + " was canceled because its thread was interrupted. The call may have taken effect.");
    }
}
