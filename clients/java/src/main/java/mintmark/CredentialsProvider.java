package mintmark;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import mintmark.contract.CredentialsProviderMethods;
import mintmark.contract.CredentialsProviderGetParams;
import mintmark.contract.CredentialsProviderOpenParams;
import mintmark.contract.ProviderNotOpenException;
import mintmark.contract.CredentialsProviderAnswer;
import mintmark.contract.CredentialsProviderAnswer.Ready;

/**
 * Provides valid temporary credentials of one user and renews them when necessary. If the application's backend must issue a token,
 * {@link OnTokenRequired} is called once for all waiting threads. Safe for use by multiple threads.
 */
public final class CredentialsProvider implements AutoCloseable {
    private final CredentialsProviderMethods methods;
    private final OnTokenRequired backend;
    private final ReentrantLock asking = new ReentrantLock();
    private final ReentrantLock opening = new ReentrantLock();
    private final AtomicBoolean isClosed = new AtomicBoolean();
    private volatile CredentialsProviderOpenParams params;
    private volatile String handle;

    /**
     * Creates a provider. The first call opens it. If the process has ended, the next call opens the provider again with the same identity.
     *
     * @param calls a client, or its methods with a time limit
     * @param params sets the parameters; tokenSource is always the caller
     * @param backend obtains tokens from the application's backend
     */
    public CredentialsProvider(Calls calls, Consumer<CredentialsProviderOpenParams> params, OnTokenRequired backend) {
        this(calls, Params.filled(new CredentialsProviderOpenParams(), params), backend);
    }

    /**
     * Creates a provider from parameters.
     *
     * @param calls a client, or its methods with a time limit
     * @param params the parameters; tokenSource is always the caller
     * @param backend obtains tokens from the application's backend
     * @throws IllegalArgumentException if backend is null
     */
    public CredentialsProvider(Calls calls, CredentialsProviderOpenParams params, OnTokenRequired backend) {
        if (backend == null) {
            throw new IllegalArgumentException("A CredentialsProvider requires a function that requests tokens from your backend: required -> new IssuedToken(identityId, token).");
        }
        methods = calls.credentialsProvider();
        this.params = copy(params).tokenSource(CredentialsProviderOpenParams.TokenSource.CALLER);
        this.backend = backend;
    }

    /**
     * Returns valid credentials, with identityId and roleArn.
     *
     * @return the credentials
     */
    public Ready get() {
        return ready(open -> methods.get(p -> p.provider(open)));
    }

    /**
     * Renews the credentials even if they are still valid.
     *
     * @return the new credentials
     */
    public Ready refresh() {
        var isFirst = new boolean[] {true};
        return ready(open -> {
            var renew = new CredentialsProviderGetParams().provider(open).refresh(isFirst[0]);
            isFirst[0] = false;
            return methods.get(renew);
        });
    }

    /**
     * Returns the ID of the identity.
     *
     * @return the ID
     */
    public String identityId() {
        return ready(open -> methods.identityId(p -> p.provider(open))).identityId();
    }

    /**
     * Replaces the user's logins. The identity ID is kept, unless the logins are already linked to another identity.
     *
     * @param logins the new logins
     */
    public void setLogins(Map<String, String> logins) {
        remember(logins);
        perform(open -> methods.setLogins(p -> p.provider(open).logins(logins)));
    }

    /** Discards the credentials and keeps the identity. */
    public void clearCredentials() {
        perform(open -> methods.clearCredentials(p -> p.provider(open)));
    }

    /** Discards the credentials, the identity and the logins. Call this when the user signs out or another user signs in. */
    public void clearKeychain() {
        remember(null);
        perform(open -> methods.clearKeychain(p -> p.provider(open)));
    }

    /** Closes the provider. The store keeps the identity ID under the provider's key. */
    @Override
    public void close() {
        if (isClosed.getAndSet(true)) {
            return;
        }
        // If another thread is opening the provider, that thread closes it.
        var last = handle;
        if (last != null) {
            close(last);
        }
    }

    private void close(String open) {
        try {
            methods.close(p -> p.provider(open));
        } catch (ProviderNotOpenException gone) {
            // The process was restarted and no longer has the provider.
        }
    }

    /** Requests do not change after they were read by another thread. */
    private synchronized void remember(Map<String, String> logins) {
        params = copy(params).logins(logins);
    }

    private static CredentialsProviderOpenParams copy(CredentialsProviderOpenParams params) {
        return Params.copied(params, new CredentialsProviderOpenParams());
    }

    private Ready ready(Function<String, CredentialsProviderAnswer> read) {
        var answer = perform(read);
        if (!(answer instanceof CredentialsProviderAnswer.TokenRequired)) {
            return known(answer);
        }
        lock(asking, "credentialsProvider.get");
        try {
            // Another thread may have submitted a token while this one waited for the lock.
            var again = perform(read);
            return known(again instanceof CredentialsProviderAnswer.TokenRequired required ? submit(required, ask(required)) : again);
        } finally {
            asking.unlock();
        }
    }

    private static Ready known(CredentialsProviderAnswer answer) {
        if (answer instanceof Ready ready) {
            return ready;
        }
        throw ProtocolException.ofMember("state: " + answer.state() + " is not a state that this client knows");
    }

    private IssuedToken ask(CredentialsProviderAnswer.TokenRequired required) {
        try {
            var reason = Optional.ofNullable(required.toJson().get("reason")).map(String::valueOf);
            return backend.onTokenRequired(new TokenRequired(required.logins(), required.identityId(), reason));
        } catch (RuntimeException own) {
            throw own;
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            throw new BackendException(interrupt);
        } catch (Exception own) {
            throw new BackendException(own);
        }
    }

    private CredentialsProviderAnswer submit(CredentialsProviderAnswer.TokenRequired required, IssuedToken issued) {
        if (issued == null || issued.identityId() == null || issued.token() == null) {
            throw new BackendException((issued == null ? "onTokenRequired returned null" : "the identityId or the token is null")
                    + ". Return new IssuedToken(identityId, token) with the result of token.mintForDeveloper.");
        }
        return methods.submitToken(
                p -> p.continuationToken(required.continuationToken()).identityId(issued.identityId()).token(issued.token()));
    }

    /** Calls with the provider's handle. If a restarted process does not have the handle, opens the provider again and retries once. */
    private <T> T perform(Function<String, T> call) {
        var open = open(null);
        try {
            return call.apply(open);
        } catch (ProviderNotOpenException gone) {
            return call.apply(open(open));
        }
    }

    /** Returns the handle. Opens the provider if it has no handle, or if its handle is `insteadOf`, which the process does not have. */
    private String open(String insteadOf) {
        if (!isWanting(insteadOf)) {
            return handle;
        }
        lock(opening, "credentialsProvider.open");
        try {
            if (isWanting(insteadOf)) {
                refuseClosed();
                handle = methods.open(params).provider();
                refuseClosed();
            }
            return handle;
        } finally {
            opening.unlock();
        }
    }

    private boolean isWanting(String insteadOf) {
        var open = handle;
        return open == null || open.equals(insteadOf) && !isClosed.get();
    }

    private void refuseClosed() {
        if (!isClosed.get()) {
            return;
        }
        if (handle != null) {
            // Another thread closed the provider while this one opened it.
            close(handle);
        }
        throw ClientClosedException.ofProvider("credentialsProvider.open");
    }

    private static void lock(ReentrantLock lock, String call) {
        try {
            lock.lockInterruptibly();
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            throw new CallCancelledException(call);
        }
    }
}
