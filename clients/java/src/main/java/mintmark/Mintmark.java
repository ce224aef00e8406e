package mintmark;

import java.time.Duration;
import java.util.function.Consumer;

/**
 * A Mintmark process and its methods. Safe for use by multiple threads.
 *
 * <pre>{@code
 * try (var m = Mintmark.start(o -> o.store("shop.db"))) {
 *     var pool = m.pool().create(p -> p.name("shop").developerProvider("login.shop"));
 * }
 * }</pre>
 */
public class Mintmark extends Calls implements AutoCloseable {
    private static final Duration GRACE = Duration.ofSeconds(10);

    /**
     * Starts the process, and waits until it has reported a supported version.
     *
     * @param options the store and the settings of the process
     */
    protected Mintmark(Options options) {
        super(started(options.settings()));
    }

    private static EngineCaller started(Settings settings) {
        var engine = new Engine(settings);
        try {
            engine.start();
        } catch (MintmarkException wrong) {
            // No call was sent yet, so the process can be killed.
            engine.close(Duration.ZERO);
            throw wrong;
        }
        return new EngineCaller(engine, new CallSettings(settings.timeout(), null, null));
    }

    /**
     * Starts the process, and waits until it has reported a supported version.
     *
     * @param options the store and the settings of the process
     * @return the client
     * @throws IllegalArgumentException if neither or both of store and app are set
     * @throws MintmarkException if the process cannot be started, is too old, or is not Mintmark
     */
    public static Mintmark start(Options options) {
        return new Mintmark(options);
    }

    /**
     * Starts the process with options that a function sets.
     *
     * @param options sets the options
     * @return the client
     */
    public static Mintmark start(Consumer<Options> options) {
        var filled = new Options();
        options.accept(filled);
        return start(filled);
    }

    /**
     * Lets the process finish the requests that it has received, then waits for its exit. Kills it after 10 seconds. Later calls fail with
     * a {@link ClientClosedException}.
     */
    @Override
    public final void close() {
        close(GRACE);
    }

    /**
     * Closes the client with a time limit.
     *
     * @param grace the time after which the process is killed; an interrupt of this thread also kills it
     */
    public final void close(Duration grace) {
        engine().close(grace);
    }
}
