package mintmark.conformance;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import mintmark.json.Json;

/** The conformance driver of the Java client: performs the steps described in clients/conformance/README.md. */
final class Driver {
    private final Map<String, Client> clients = new HashMap<>();
    private final Map<String, CompletableFuture<Object>> begun = new HashMap<>();
    private final Map<String, Provider> providers = new HashMap<>();

    private Driver() {}

    public static void main(String[] arguments) throws IOException {
        var driver = new Driver();
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (var line = lines.readLine(); line != null; line = lines.readLine()) {
            answers.println(Json.write(driver.answer(line)));
        }
    }

    private Map<String, Object> answer(String line) {
        try {
            return Outcomes.of(() -> carryOut(Step.of(line)));
        } catch (RuntimeException fault) {
            return Map.of("fault", fault.toString());
        }
    }

    private Object carryOut(Step step) throws Exception {
        switch (step.what()) {
            case "open", "testing" -> open(step);
            case "call" -> {
                return clients.get(step.text("client")).call(step, step.params());
            }
            case "many" -> {
                return many(step);
            }
            case "begin" -> begun.put(step.text("call"), begin(step));
            case "await" -> {
                return begun.get(step.text("call")).get();
            }
            case "cancel" -> begun.get(step.text("call")).cancel(true);
            case "bench" -> {
                return clients.get(step.text("client")).bench(step);
            }
            case "strange" -> {
                return clients.get(step.text("client")).strange(step.text("value"));
            }
            case "notifications" -> {
                return clients.get(step.text("client")).heard();
            }
            case "hooks.asked" -> {
                return clients.get(step.text("client")).asked();
            }
            case "left" -> {
                // The JDK keeps its `process reaper` thread for a minute after the last process has exited.
                return Thread.getAllStackTraces().keySet().stream().filter(each -> !each.getName().equals("process reaper")).count();
            }
            case "close" -> {
                if (clients.containsKey(step.text("client"))) {
                    clients.get(step.text("client")).close(step.seconds("graceSeconds"));
                }
            }
            case "provider.open" -> providers.put(step.text("provider"), new Provider(clients.get(step.text("client")).mintmark(), step));
            default -> {
                return providers.get(step.text("provider")).carryOut(step);
            }
        }
        return null;
    }

    private void open(Step step) {
        clients.remove(step.text("client"));
        clients.put(step.text("client"), new Client(step));
    }

    private Object many(Step step) {
        var client = clients.get(step.text("client"));
        var futures = step.list("params").stream().map(each -> client.callAsync(step, Step.object(each))).toList();
        return futures.stream().map(each -> Outcomes.of(each::get)).toList();
    }

    /** Begins a step. A call uses the asynchronous API of the client; every other step runs in its own thread. */
    private CompletableFuture<Object> begin(Step step) {
        var then = step.then();
        if (then.what().equals("call")) {
            return clients.get(step.text("client")).callAsync(step, step.params());
        }
        var future = new CompletableFuture<Object>();
        var thread = new Thread(() -> {
            try {
                future.complete(carryOut(then));
            } catch (Exception wrong) {
                future.completeExceptionally(wrong);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return future;
    }
}
