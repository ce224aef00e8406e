package mintmark;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** A call that waits for its answer: a message, or null once the process has ended. Nothing of an application depends on it. */
final class Pending extends CompletableFuture<Message> {
    final ServerProcess process;
    final String method;
    final long id;
    private final Consumer<Map<String, Object>> progress;
    /** What there is to do before it is answered, and then that; null where nobody asks for its progress. */
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

    /** Whether somebody asks for its progress. */
    boolean isReporting() {
        return progress != null;
    }

    /** Tells of its progress, without waiting. */
    void tell(Map<String, Object> value) {
        told.add(() -> progress.accept(value));
    }

    /** Whether its answer came, though not all of its progress may be told. */
    boolean isSettled() {
        return isSettled;
    }

    /** The answer that came. */
    Message settled() {
        return settled;
    }

    /** Says that its answer came: who gives it up from now on gets that. */
    void settle(Message message) {
        settled = message;
        isSettled = true;
    }

    /** Answers it, once all was told. */
    void answer(Message message) {
        if (told == null) {
            complete(message);
        } else {
            told.add(() -> complete(message));
        }
    }

    /** Whether nobody waits any more: it was not answered before, and the process is told. */
    boolean giveUp() {
        return process.forget(this);
    }
}
