package mintmark;

/** Decides about an account, a session or a message before it is stored or sent. It is called in its own thread and can make calls. */
@FunctionalInterface
public interface HookFunction {
    /**
     * Decides within 7 seconds.
     *
     * @param request the question
     * @return the changes; null to allow the operation without a change
     * @throws HookRefusedException to refuse the operation
     * @throws Exception if the function cannot decide: the operation then fails
     */
    HookAnswer decide(HookRequest request) throws Exception;
}
