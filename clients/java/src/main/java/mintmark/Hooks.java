package mintmark;

import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import mintmark.json.Json;

/** The functions that answer hooks, by the names of the hooks. */
record Hooks(Map<String, HookFunction> functions) {
    /** The ID of the request that offers hooks. */
    static final long OFFER = -1;

    private static final String PREFIX = "hook/";
    private static final int NOT_FOUND = -32601;
    private static final int FAILED = -32603;

    boolean isEmpty() {
        return functions.isEmpty();
    }

    byte[] offer() {
        return Wire.line(OFFER, false, Wire.body("hooks.offer", Map.of("hooks", List.copyOf(functions.keySet())), null, 1 << 20));
    }

    /** Answers a request of the process in a thread of its own, so that a function can call the client and take its time. */
    void answer(Message asked, Consumer<byte[]> send) {
        Threads.start("mintmark-hook", () -> {
            var answer = new LinkedHashMap<String, Object>();
            answer.put("jsonrpc", "2.0");
            answer.put("id", asked.id());
            String text;
            try {
                answer.put("result", decide(asked));
                text = Json.write(answer);
            } catch (HookRefusedException refusal) {
                answer.put("result", Map.of("refuse", refusal.getMessage()));
                text = Json.write(answer);
            } catch (Exception | StackOverflowError wrong) {
                answer.remove("result");
                var isUnknown = !functions.containsKey(name(asked));
                answer.put("error", Map.of("code", isUnknown ? NOT_FOUND : FAILED, "message", String.valueOf(wrong.getMessage())));
                text = Json.write(answer);
            }
            send.accept((text + "\n").getBytes(StandardCharsets.UTF_8));
        });
    }

    private static String name(Message asked) {
        return asked.method().startsWith(PREFIX) ? asked.method().substring(PREFIX.length()) : asked.method();
    }

    private Object decide(Message asked) throws Exception {
        var function = functions.get(name(asked));
        if (function == null) {
            throw new IllegalArgumentException("This client has no function for " + asked.method() + ".");
        }
        var answer = function.decide(new HookRequest(name(asked), Collections.unmodifiableMap(asked.params())));
        return answer == null ? null : answer.members();
    }
}
