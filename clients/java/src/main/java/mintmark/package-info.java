/**
 * The client of Mintmark: {@link mintmark.Mintmark} starts a process and has the methods.
 *
 * <p>No parameter and no return value is null, unless its documentation says so. Members that may be absent are
 * {@link java.util.Optional}; lists and maps that may be absent are empty. A setter of {@link mintmark.Params} or
 * {@link mintmark.Options} removes the value if it gets null.
 */
package mintmark;
