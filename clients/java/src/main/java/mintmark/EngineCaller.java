package mintmark;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;

/** Performs calls with the same settings. */
record EngineCaller(Engine engine, CallSettings settings) implements Caller {
    @Override
    public <R> R call(String method, Params params, Function<Map<String, Object>, R> read) {
        return engine.call(method, params.members(), read, settings);
    }

    @Override
    public <R> CompletableFuture<R> callAsync(String method, Params params, Function<Map<String, Object>, R> read) {
        return engine.callAsync(method, params.members(), read, settings);
    }

    @Override
    public Caller withProgress(Consumer<Map<String, Object>> progress) {
        return new EngineCaller(engine, new CallSettings(settings.timeout(), settings.trace(), progress));
    }
}
