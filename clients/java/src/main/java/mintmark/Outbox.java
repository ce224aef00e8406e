package mintmark;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Writes lines to a pipe in order, as many at once as are waiting. Sending never blocks, even if the process stops reading. */
final class Outbox {
    private static final int BUFFER_BYTES = 1 << 16;

    private final OutputStream pipe;
    private final Queue<byte[]> waiting = new ConcurrentLinkedQueue<>();
    private final BooleanSupplier isBusy;
    private final Thread writer;
    /** Whether the writer sleeps or is about to. The thread that resets this wakes the writer. */
    private final AtomicBoolean isIdle = new AtomicBoolean();
    private volatile boolean isEnded;

    /** `isBusy` tells whether several calls are waiting for their responses. */
    Outbox(OutputStream pipe, BooleanSupplier isBusy) {
        this.isBusy = isBusy;
        this.pipe = new BufferedOutputStream(pipe, BUFFER_BYTES);
        writer = Threads.start("mintmark-writer", this::write);
    }

    void send(byte[] line) {
        if (!isEnded) {
            waiting.add(line);
            wake();
        }
    }

    /** Closes the pipe once everything is written. */
    void end() {
        isEnded = true;
        wake();
    }

    private void wake() {
        if (isIdle.get() && isIdle.compareAndSet(true, false)) {
            LockSupport.unpark(writer);
        }
    }

    private void write() {
        try (pipe) {
            while (!isEnded || !waiting.isEmpty()) {
                for (var line = waiting.poll(); line != null; line = waiting.poll()) {
                    pipe.write(line);
                }
                pipe.flush();
                sleep();
            }
        } catch (IOException gone) {
            // The process has closed its input. Its output reports its end.
            isEnded = true;
            waiting.clear();
        }
    }

    /** Sleeps until there is something to write. A line that was added before the writer became idle keeps it awake. */
    private void sleep() {
        isIdle.set(true);
        if (waiting.isEmpty() && !isEnded) {
            LockSupport.park(this);
            if (isBusy.getAsBoolean()) {
                // Threads that are ready to run send their lines first, so that one system call writes them all.
                Thread.yield();
            }
        }
        isIdle.set(false);
    }
}
