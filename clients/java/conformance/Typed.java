package mintmark.conformance;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import mintmark.Calls;
import mintmark.Params;
import mintmark.Result;
import mintmark.json.JsonRecord;
import mintmark.json.JsonText;
import mintmark.json.Read;

/** Calls of typed methods. Parameters are set by their setters, and every getter of a result is called. */
final class Typed {
    /** The parameters have a member or a value that the typed method does not accept. */
    private static final class NotTyped extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    private Typed() {}

    /** The call of a method, or empty if the client has no such method or no such parameters. */
    static Optional<Callable<Object>> call(Calls calls, String name, Map<String, Object> params, String ending) {
        var names = name.split("\\.", 2);
        var namespace = Arrays.stream(calls.getClass().getMethods()).filter(each -> each.getName().equals(names[0]) && each.getParameterCount() == 0)
                .filter(each -> each.getReturnType().getSimpleName().endsWith("Methods")).findFirst();
        if (namespace.isEmpty() || names.length < 2) {
            return Optional.empty();
        }
        var methods = invoke(namespace.get(), calls);
        // Methods whose names are reserved words in Java end with an underscore.
        var wanted = List.of(names[1] + ending, names[1] + "_" + ending);
        var found = Arrays.stream(methods.getClass().getMethods()).filter(each -> wanted.contains(each.getName())).toList();
        try {
            for (var method : found) {
                if (method.getParameterCount() == 1 && Params.class.isAssignableFrom(method.getParameterTypes()[0])) {
                    var filled = params(method.getParameterTypes()[0].asSubclass(Params.class), params);
                    return Optional.of(() -> invoke(method, methods, filled));
                }
            }
            for (var method : found) {
                if (method.getParameterCount() == 1 && method.getParameterTypes()[0] == Consumer.class) {
                    var type = (Class<?>) ((ParameterizedType) method.getGenericParameterTypes()[0]).getActualTypeArguments()[0];
                    params(type.asSubclass(Params.class), params);
                    Consumer<Params> fill = filled -> set(filled, params);
                    return Optional.of(() -> invoke(method, methods, fill));
                }
            }
        } catch (NotTyped untyped) {
            return Optional.empty();
        }
        return found.stream().filter(each -> each.getParameterCount() == 0 && params.isEmpty()).findFirst().map(method -> () -> invoke(method, methods));
    }

    /** Parameters with the values of a step. */
    static <P extends Params> P params(Class<P> type, Map<String, Object> values) {
        var params = type.cast(create(type));
        set(params, values);
        return params;
    }

    private static Params create(Class<?> type) {
        try {
            return (Params) type.getConstructor().newInstance();
        } catch (ReflectiveOperationException wrong) {
            throw new IllegalStateException(wrong);
        }
    }

    private static void set(Params params, Map<String, Object> values) {
        values.forEach((name, value) -> invoke(setter(params.getClass(), camelCase(name)), params, value));
        if (!params.toJson().equals(values)) {
            throw new NotTyped();
        }
    }

    /** The setter of a value with its conversion. */
    private static Setter setter(Class<?> type, String name) {
        return Arrays.stream(type.getMethods()).filter(each -> each.getName().equals(name) && each.getParameterCount() == 1).findFirst()
                .map(Setter::new).orElseThrow(NotTyped::new);
    }

    /** A method that sets a value. */
    private record Setter(Method method) {}

    private static Object invoke(Setter setter, Object target, Object value) {
        var converted = converted(setter.method().getGenericParameterTypes()[0], value);
        try {
            return setter.method().invoke(target, converted);
        } catch (ReflectiveOperationException | IllegalArgumentException wrong) {
            throw new NotTyped();
        }
    }

    private static Object converted(Type type, Object value) {
        if (type instanceof ParameterizedType generic && generic.getRawType() == List.class && value instanceof List<?> list) {
            var all = new ArrayList<Object>();
            list.forEach(each -> all.add(converted(generic.getActualTypeArguments()[0], each)));
            return all;
        }
        if (type instanceof ParameterizedType generic && generic.getRawType() == Map.class && value instanceof Map<?, ?> map) {
            var all = new LinkedHashMap<Object, Object>();
            map.forEach((name, each) -> all.put(name, converted(generic.getActualTypeArguments()[1], each)));
            return all;
        }
        if (type == Object.class || type instanceof Class<?> plain && !plain.isEnum() && !Result.class.isAssignableFrom(plain) && plain != Instant.class) {
            if (type == String.class && !(value instanceof String)) {
                throw new NotTyped();
            }
            return value;
        }
        if (type == Instant.class && value instanceof Long seconds) {
            return Instant.ofEpochSecond(seconds);
        }
        if (type instanceof Class<?> constants && constants.isEnum()) {
            return Arrays.stream(constants.getEnumConstants()).filter(each -> value.equals(((JsonText) each).value())).findFirst()
                    .orElseThrow(NotTyped::new);
        }
        if (type instanceof Class<?> object && value instanceof Map<?, ?> members) {
            return object(object, members);
        }
        throw new NotTyped();
    }

    /** An object, created by the methods that return a copy with another value. */
    private static Object object(Class<?> type, Map<?, ?> members) {
        try {
            Object object = type.getConstructor().newInstance();
            for (var member : members.entrySet()) {
                var name = camelCase((String) member.getKey());
                object = invoke(setter(type, "with" + name.substring(0, 1).toUpperCase(java.util.Locale.ROOT) + name.substring(1)), object, member.getValue());
            }
            return object;
        } catch (ReflectiveOperationException wrong) {
            throw new NotTyped();
        }
    }

    private static String camelCase(String name) {
        var words = new StringBuilder();
        for (var word : name.split("[_.-]")) {
            words.append(words.isEmpty() ? word : word.substring(0, 1).toUpperCase(java.util.Locale.ROOT) + word.substring(1));
        }
        return words.toString();
    }

    private static Object invoke(Method method, Object target, Object... arguments) {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException wrong) {
            if (wrong.getCause() instanceof RuntimeException own) {
                throw own;
            }
            throw new IllegalStateException(wrong);
        } catch (IllegalAccessException wrong) {
            throw new IllegalStateException(wrong);
        }
    }

    /** The JSON of a result, after every getter was called. */
    static Object json(Object result) {
        read(result);
        return result instanceof JsonRecord record ? record.toJson() : result;
    }

    private static void read(Object value) {
        if (value instanceof Result result) {
            for (var method : result.getClass().getDeclaredMethods()) {
                if (method.getParameterCount() == 0 && Modifier.isPublic(method.getModifiers()) && !method.isBridge()) {
                    read(invoke(method, result));
                }
            }
        } else if (value instanceof Optional<?> optional) {
            optional.ifPresent(Typed::read);
        } else if (value instanceof List<?> list) {
            list.forEach(Typed::read);
        } else if (value instanceof Map<?, ?> map) {
            Read.OBJECT.apply(map).values().forEach(Typed::read);
        }
    }
}
