package mintmark;

import java.io.Serializable;
import java.util.Map;

/**
 * An error as Mintmark answers it.
 *
 * @param code the number of the error; each belongs to one type for good
 * @param type the stable name of the error
 * @param message for people, and says what to do next
 * @param data what the answer says beside it
 * @param call the method that was called
 * @param trace the call's; may be null
 */
public record Answer(int code, String type, String message, Map<String, Object> data, String call, String trace) implements Serializable {}
