package mintmark;

/** Thrown by a {@link HookFunction} to refuse the operation. The caller gets a RefusedByHookException with the reason. */
public final class HookRefusedException extends MintmarkException {
    private static final long serialVersionUID = 1;

    /**
     * Refuses the operation.
     *
     * @param reason the reason, of 1 to 1000 characters
     */
    public HookRefusedException(String reason) {
        super(reason, null);
    }
}
