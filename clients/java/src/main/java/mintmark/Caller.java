package mintmark;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** Who carries calls out. */
public interface Caller {
    /**
     * Calls and waits.
     *
     * @param <T> what it answers
     * @param method its name on the wire
     * @param params its parameters as JSON
     * @param read reads its result
     * @return the result
     * @throws MintmarkException if there is none
     */
    <T> T call(String method, Map<String, ?> params, Function<Object, T> read);

    /**
     * Calls.
     *
     * @param <T> what it answers
     * @param method its name on the wire
     * @param params its parameters as JSON
     * @param read reads its result
     * @return the result in a future, or a MintmarkException; cancelling it cancels the request
     */
    <T> CompletableFuture<T> callAsync(String method, Map<String, ?> params, Function<Object, T> read);
}
