package mintmark;

import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;

/** Writes lines to a pipe in order. Sending never blocks, even if the process stops reading. */
final class Outbox {
    private final OutputStream pipe;
    private List<byte[]> waiting = new ArrayList<>();
    private boolean isEnded;

    Outbox(OutputStream pipe) {
        this.pipe = pipe;
        Threads.start("mintmark-writer", this::write);
    }

    synchronized void send(byte[] line) {
        if (!isEnded) {
            waiting.add(line);
            notifyAll();
        }
    }

    /** Closes the pipe once everything is written. */
    synchronized void end() {
        isEnded = true;
        notifyAll();
    }

    private void write() {
        try (pipe) {
            for (var lines = next(); !lines.isEmpty(); lines = next()) {
                for (var line : lines) {
                    pipe.write(line);
                }
                pipe.flush();
            }
        } catch (IOException gone) {
            // The process has closed its input. Its output reports its end.
            end();
        }
    }

    private synchronized List<byte[]> next() {
        while (waiting.isEmpty() && !isEnded) {
            try {
                wait();
            } catch (InterruptedException nobodyDoesThat) {
                isEnded = true;
            }
        }
        var lines = waiting;
        waiting = new ArrayList<>();
        return lines;
    }
}
