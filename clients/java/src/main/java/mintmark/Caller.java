package mintmark;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** Performs calls. */
public interface Caller {
    /**
     * Calls a method and waits for the result.
     *
     * @param <T> the type of the result
     * @param method its name on the wire
     * @param params its parameters as JSON
     * @param read converts the result
     * @return the result
     * @throws MintmarkException if the call fails
     */
    <T> T call(String method, Map<String, ?> params, Function<Object, T> read);

    /**
     * Calls a method asynchronously.
     *
     * @param <T> the type of the result
     * @param method its name on the wire
     * @param params its parameters as JSON
     * @param read converts the result
     * @return a future of the result, which fails with a MintmarkException; canceling it cancels the request
     */
    <T> CompletableFuture<T> callAsync(String method, Map<String, ?> params, Function<Object, T> read);
}
