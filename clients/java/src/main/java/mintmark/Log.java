package mintmark;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;

/** Keeps the last lines that a process writes to standard error, and passes every line to a listener. */
final class Log {
    private static final int KEPT_LINES = 20;

    private final Deque<String> lines = new ArrayDeque<>();
    private final Thread thread;

    Log(InputStream errors, Consumer<String> onward) {
        thread = Threads.start("mintmark-log", () -> read(errors, onward));
    }

    private void read(InputStream errors, Consumer<String> onward) {
        try (var text = new BufferedReader(new InputStreamReader(errors, StandardCharsets.UTF_8))) {
            for (var line = text.readLine(); line != null; line = text.readLine()) {
                keep(line);
                Threads.tell(onward, line);
            }
        } catch (IOException gone) {
            // The stream was closed: there are no more lines.
        }
    }

    private synchronized void keep(String line) {
        lines.add(line);
        if (lines.size() > KEPT_LINES) {
            lines.remove();
        }
    }

    /** Waits for the last lines, for at most one second: a grandchild process can hold the pipe open. */
    void finish() {
        try {
            thread.join(Duration.ofSeconds(1).toMillis());
        } catch (InterruptedException unexpected) {
            Thread.currentThread().interrupt();
        }
    }

    synchronized List<String> last() {
        return List.copyOf(lines);
    }
}
