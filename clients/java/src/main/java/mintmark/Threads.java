package mintmark;

import java.util.function.Consumer;

/** The client's threads. None keeps a program from ending. */
final class Threads {
    private Threads() {}

    static Thread start(String name, Runnable work) {
        var thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private static void report(Throwable wrong) {
        var thread = Thread.currentThread();
        try {
            thread.getUncaughtExceptionHandler().uncaughtException(thread, wrong);
        } catch (RuntimeException | Error worse) {
            // What goes wrong in the handler is passed over, as Java itself does.
        }
    }

    /** Calls what an application gave; what it throws is reported as of any thread, and ends nothing. */
    static <T> void tell(Consumer<? super T> listener, T what) {
        try {
            listener.accept(what);
        } catch (RuntimeException | Error wrong) {
            report(wrong);
        }
    }
}
