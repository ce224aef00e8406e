package mintmark;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/** The immutable settings of a client, created from its options. */
record Settings(
        String binary, List<String> arguments, Map<String, String> environment, boolean isInMemory, boolean isTesting, Duration timeout, boolean restarts,
        int maxLineBytes, Consumer<Notification> onNotification, Consumer<String> log, Executor executor, Hooks hooks) {

    /** The default program. */
    static String usualBinary() {
        var named = System.getenv("MINTMARK_BINARY");
        return named == null || named.isEmpty() ? "mintmark" : named;
    }

    static List<String> arguments(String store, String app, boolean isTesting, Map<String, String> flags, List<String> more) {
        var all = new ArrayList<>(List.of("serve"));
        // The form with "=" allows values that begin with "-".
        all.add(store == null ? "--app=" + app : "--store=" + lasting(store));
        new TreeMap<>(flags).forEach((flag, value) -> all.add(flag + value));
        if (isTesting) {
            all.add("--testing");
        }
        all.addAll(more);
        return List.copyOf(all);
    }

    /** Makes the path absolute, so that the store does not depend on the current directory. */
    private static String lasting(String store) {
        return store.equals(Options.IN_MEMORY) || store.contains("://") ? store : Path.of(store).toAbsolutePath().toString();
    }

    /** The command that starts a process. */
    ProcessBuilder command() {
        var command = new ArrayList<>(List.of(binary));
        command.addAll(arguments);
        if (System.getProperty("os.name").equals("Linux") && arguments.stream().noneMatch(each -> each.startsWith("--parent"))) {
            command.add("--parent=" + ProcessHandle.current().pid());
        }
        var builder = new ProcessBuilder(command);
        // These variables would take precedence over the options.
        builder.environment().remove("MINTMARK_STORE");
        builder.environment().remove("MINTMARK_APP");
        builder.environment().putAll(environment);
        return builder;
    }

    /** The recommended action after the process has ended. */
    String advice() {
        if (restarts) {
            return "The next call starts a new process.";
        }
        return isInMemory
                ? "The store in memory is lost. Start a new client, or set options.restart(true) to continue with an empty store."
                : "Start a new client, or set options.restart(true).";
    }
}
