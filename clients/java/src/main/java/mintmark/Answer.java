package mintmark;

import java.io.Serializable;
import java.util.Map;

/**
 * An error that Mintmark returned.
 *
 * @param code the number of the error, which is unique to its type and never changes
 * @param type the stable name of the error
 * @param message the text for the developer, including the next action
 * @param data the details of the error
 * @param call the method that was called
 * @param trace the trace of the call; may be null
 */
public record Answer(int code, String type, String message, Map<String, Object> data, String call, String trace) implements Serializable {}
