package mintmark;

import java.time.Duration;
import java.util.function.Consumer;
import mintmark.json.Records;

/**
 * A Mintmark process and its methods. Any number of threads may share one.
 *
 * <pre>{@code
 * try (var m = Mintmark.start(o -> o.store("shop.db"))) {
 *     var pool = m.pool().create(p -> p.name("shop").developerProvider("login.shop"));
 * }
 * }</pre>
 */
public final class Mintmark extends Calls implements AutoCloseable {
    private static final Duration GRACE = Duration.ofSeconds(10);

    private Mintmark(Engine engine, Duration timeout) {
        super(engine, new CallSettings(timeout, null, null));
    }

    /**
     * Starts the process and waits until it has said that it is Mintmark, and new enough.
     *
     * @param options which data are used, and how the process is run
     * @return the client
     * @throws IllegalArgumentException if neither a store nor an app is named, or both
     * @throws MintmarkException if there is no such process
     */
    public static Mintmark start(Options options) {
        var settings = options.settings();
        var engine = new Engine(settings);
        try {
            engine.start();
        } catch (MintmarkException wrong) {
            // Nothing was asked of it yet.
            engine.close(Duration.ZERO);
            throw wrong;
        }
        return new Mintmark(engine, settings.timeout());
    }

    /**
     * The same with options that are told.
     *
     * @param options tells them
     * @return the client
     */
    public static Mintmark start(Consumer<Options> options) {
        return start(Records.told(new Options(), options));
    }

    /**
     * Starts a process with a fresh testing store in memory, whose clock can be turned.
     *
     * @return the client
     */
    public static Mintmark testing() {
        return testing(options -> {});
    }

    /**
     * The same with further options.
     *
     * @param options tells them
     * @return the client
     */
    public static Mintmark testing(Consumer<Options> options) {
        var told = Records.told(new Options().testing(true), options);
        return start(told.hasData() ? told : told.store(Options.IN_MEMORY));
    }

    /** Lets the process answer what it was asked, and end; after 10 seconds it is killed. Later calls are refused. */
    @Override
    public void close() {
        close(GRACE);
    }

    /**
     * The same with a time of one's own.
     *
     * @param grace after how long the process is killed; an interrupt kills it too
     */
    public void close(Duration grace) {
        engine.close(grace);
    }
}
