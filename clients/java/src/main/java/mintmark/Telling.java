package mintmark;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.Consumer;

/** Hands what is told to a listener, one after the other, in a thread of its own: it may make calls. */
final class Telling<T> {
    private final String thread;
    private final Consumer<? super T> listener;
    private final Queue<T> waiting = new ArrayDeque<>();
    private boolean isActive;

    /** For a listener, null for none, and a thread of that name. */
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

    /** Lives while there is something to tell. */
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
