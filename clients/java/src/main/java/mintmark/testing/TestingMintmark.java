package mintmark.testing;

import java.time.Duration;
import java.util.function.Consumer;
import mintmark.Mintmark;
import mintmark.MintmarkException;
import mintmark.Options;
import mintmark.contract.TestMethods;

/**
 * A client with a testing store, which has a virtual clock and captures messages.
 *
 * <pre>{@code
 * try (var m = TestingMintmark.start()) {
 *     m.test().clock(c -> c.advanceSeconds(3600));
 * }
 * }</pre>
 */
public final class TestingMintmark extends Mintmark {
    private TestingMintmark(Options options) {
        super(options);
    }

    /**
     * Starts a process with an empty store in memory.
     *
     * @return the client
     * @throws MintmarkException if the process cannot be started, is too old, or is not Mintmark
     */
    public static TestingMintmark start() {
        return start(options -> {});
    }

    /**
     * Starts a process with options that a function sets. The store is in memory, unless the function names a store or an app.
     *
     * @param options sets the options
     * @return the client
     * @throws MintmarkException if the process cannot be started, is too old, or is not Mintmark
     */
    public static TestingMintmark start(Consumer<Options> options) {
        return new TestingMintmark(Options.ofTesting(options));
    }

    /** {@return the methods <code>test.*</code>} */
    public TestMethods test() {
        return new TestMethods(caller());
    }

    @Override
    public TestingCalls withTimeout(Duration timeout) {
        return new TestingCalls(super.withTimeout(timeout));
    }

    @Override
    public TestingCalls withTrace(String trace) {
        return new TestingCalls(super.withTrace(trace));
    }
}
