package mintmark;

import java.util.function.Consumer;

/** Starts the client's threads. All are daemon threads. */
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
            // Exceptions of the handler are ignored, as in the JVM.
        }
    }

    /** Calls a listener of the application. An exception is reported to the uncaught exception handler and does not end the thread. */
    static <T> void tell(Consumer<? super T> listener, T what) {
        try {
            listener.accept(what);
        } catch (RuntimeException | Error wrong) {
            report(wrong);
        }
    }
}
