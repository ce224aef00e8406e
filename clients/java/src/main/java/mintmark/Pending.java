package mintmark;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * A call that waits for its response. Completes with null if the process has ended. The application's code never depends on this future
 * directly.
 */
final class Pending extends CompletableFuture<Message> {
    final ServerProcess process;
    final String method;
    final long id;
    private final Consumer<Map<String, Object>> progress;
    /** The progress values to deliver, followed by the completion of the call; null if the call has no progress listener. */
    private final Telling<Runnable> told;
    private Message settled;
    private volatile boolean isSettled;

    Pending(ServerProcess process, String method, long id, Consumer<Map<String, Object>> progress) {
        this.process = process;
        this.method = method;
        this.id = id;
        this.progress = progress;
        told = progress == null ? null : new Telling<>("mintmark-progress", Runnable::run);
    }

    /** Whether the call has a progress listener. */
    boolean isReporting() {
        return progress != null;
    }

    /** Queues a progress value for the listener, without blocking. */
    void tell(Map<String, Object> value) {
        told.add(() -> progress.accept(value));
    }

    /** Whether the response has arrived. The listener may still have progress values to receive. */
    boolean isSettled() {
        return isSettled;
    }

    /** The response, if it has arrived. */
    Message settled() {
        return settled;
    }

    /** Records the response. Giving up the call afterwards returns this response. */
    void settle(Message message) {
        settled = message;
        isSettled = true;
    }

    /** Completes the call after the listener has received all progress values. */
    void answer(Message message) {
        if (told == null) {
            complete(message);
        } else {
            told.add(() -> complete(message));
        }
    }

    /** Gives up the call. Returns whether it was still waiting; if so, cancels the request in the process. */
    boolean giveUp() {
        return process.forget(this);
    }
}
