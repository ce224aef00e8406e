package mintmark.testing;

import java.time.Duration;
import mintmark.Calls;
import mintmark.contract.TestMethods;

/** The methods of a testing store, with the settings of their calls. */
public final class TestingCalls extends Calls {
    TestingCalls(Calls calls) {
        super(calls);
    }

    /** {@return the methods <code>test.*</code>} */
    public TestMethods test() {
        return new TestMethods(caller());
    }

    @Override
    public TestingCalls withTimeout(Duration timeout) {
        return new TestingCalls(super.withTimeout(timeout));
    }

    @Override
    public TestingCalls withTrace(String trace) {
        return new TestingCalls(super.withTrace(trace));
    }
}
