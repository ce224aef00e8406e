package mintmark.tests;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;

/** Tests of the Java client beyond clients/conformance. Prints "N passed, N failed" at the end. */
public final class Checks {
    /** The tests, by their titles. */
    static final Map<String, Check> ALL = new LinkedHashMap<>();

    private Checks() {}

    /** A test. */
    interface Check {
        void run() throws Exception;
    }

    /**
     * Runs all tests.
     *
     * @param arguments unused
     */
    public static void main(String[] arguments) {
        JsonChecks.add();
        PackageChecks.add();
        RecordChecks.add();
        CallChecks.add();
        FutureChecks.add();
        ClientChecks.add();
        ProviderChecks.add();
        ProgramChecks.add();
        IdentityProviderChecks.add();
        int failed = 0;
        for (var check : ALL.entrySet()) {
            try {
                check.getValue().run();
                System.out.println("ok      " + check.getKey());
            } catch (Throwable wrong) {
                failed++;
                System.out.println("FAILED  " + check.getKey());
                wrong.printStackTrace(System.out);
            }
        }
        System.out.println(ALL.size() - failed + " passed, " + failed + " failed");
        System.exit(failed == 0 ? 0 : 1);
    }

    static void check(String sentence, Check check) {
        ALL.put(sentence, check);
    }

    static void expect(boolean holds, Object what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    static void equal(Object found, Object wanted) {
        expect(Objects.equals(found, wanted), "expected " + wanted + ", found " + found);
    }

    /** Returns the exception that a call throws. Fails if the call returns or throws an exception of another type. */
    static <X extends Throwable> X thrown(Class<X> type, Callable<?> what) {
        Object result;
        try {
            result = what.call();
        } catch (Throwable wrong) {
            if (type.isInstance(wrong)) {
                return type.cast(wrong);
            }
            throw new AssertionError("expected a " + type.getSimpleName() + ", found " + wrong, wrong);
        }
        throw new AssertionError("expected a " + type.getSimpleName() + ", found " + result);
    }

    /** Waits up to one minute for a condition. */
    static void eventually(String what, BooleanSupplier holds) throws InterruptedException {
        long began = System.nanoTime();
        while (!holds.getAsBoolean()) {
            expect(System.nanoTime() - began < 60_000_000_000L, what);
            Thread.sleep(10);
        }
    }
}
