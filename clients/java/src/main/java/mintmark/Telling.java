package mintmark;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.Consumer;

/** Calls a listener with one value at a time, in its own thread. The listener may make calls. */
final class Telling<T> {
    private final String thread;
    private final Consumer<? super T> listener;
    private final Queue<T> waiting = new ArrayDeque<>();
    private boolean isActive;

    /** Creates a queue for a listener; null discards all values. `thread` is the name of its thread. */
    Telling(String thread, Consumer<? super T> listener) {
        this.thread = thread;
        this.listener = listener;
    }

    synchronized void add(T what) {
        if (listener == null) {
            return;
        }
        waiting.add(what);
        if (!isActive) {
            Threads.start(thread, this::tell);
            isActive = true;
        }
    }

    /** Runs while values are queued. */
    private void tell() {
        for (var next = next(); next != null; next = next()) {
            Threads.tell(listener, next);
        }
    }

    private synchronized T next() {
        isActive = !waiting.isEmpty();
        return waiting.poll();
    }
}
