package mintmark;

import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import mintmark.contract.CredentialsProviderMethods;
import mintmark.contract.CredentialsProviderMethods.GetParams;
import mintmark.contract.CredentialsProviderMethods.OpenParams;
import mintmark.contract.Errors.ProviderNotOpenException;
import mintmark.contract.Types.CredentialsProviderAnswer;
import mintmark.json.Records;

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
    private volatile OpenParams params;
    private volatile String handle;

    /**
     * Creates a provider. The first call opens it. If the process has ended, the next call opens the provider again with the same identity.
     *
     * @param calls a client, or its methods with a time limit
     * @param params sets the parameters; tokenSource is always the caller
     * @param backend obtains tokens from the application's backend
     */
    public CredentialsProvider(Calls calls, Consumer<OpenParams.Builder> params, OnTokenRequired backend) {
        this(calls, Records.told(OpenParams.builder(), params).build(), backend);
    }

    /**
     * Creates a provider from a parameter record.
     *
     * @param calls a client, or its methods with a time limit
     * @param params the parameters; tokenSource is always the caller
     * @param backend obtains tokens from the application's backend
     * @throws IllegalArgumentException if backend is null
     */
    public CredentialsProvider(Calls calls, OpenParams params, OnTokenRequired backend) {
        if (backend == null) {
            throw new IllegalArgumentException("A provider needs who asks your backend for a token: required -> new IssuedToken(identityId, token).");
        }
        methods = calls.credentialsProvider();
        this.params = params.toBuilder().tokenSource(OpenParams.TokenSource.CALLER).build();
        this.backend = backend;
    }

    /**
     * Returns valid credentials, with identityId and roleArn.
     *
     * @return the credentials
     */
    public CredentialsProviderAnswer get() {
        return ready(open -> methods.get(p -> p.provider(open)));
    }

    /**
     * Renews the credentials even if they are still valid.
     *
     * @return the new credentials
     */
    public CredentialsProviderAnswer refresh() {
        var isFirst = new boolean[] {true};
        return ready(open -> {
            var renew = GetParams.builder().provider(open).refresh(isFirst[0]);
            isFirst[0] = false;
            return methods.get(renew.build());
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

    private synchronized void remember(Map<String, String> logins) {
        params = params.toBuilder().logins(logins).build();
    }

    private CredentialsProviderAnswer ready(Function<String, CredentialsProviderAnswer> read) {
        var answer = perform(read);
        if (!isTokenRequired(answer)) {
            return answer;
        }
        lock(asking, "credentialsProvider.get");
        try {
            // Another thread may have submitted a token while this one waited for the lock.
            var again = perform(read);
            return isTokenRequired(again) ? submit(again, ask(again)) : again;
        } finally {
            asking.unlock();
        }
    }

    private static boolean isTokenRequired(CredentialsProviderAnswer answer) {
        return CredentialsProviderAnswer.State.TOKEN_REQUIRED.equals(answer.state());
    }

    private IssuedToken ask(CredentialsProviderAnswer answer) {
        try {
            var logins = answer.logins() == null ? Map.<String, String>of() : answer.logins();
            return backend.onTokenRequired(new TokenRequired(logins, answer.identityId(), answer.reason() == null ? null : answer.reason().value()));
        } catch (RuntimeException own) {
            throw own;
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            throw new BackendException(interrupt);
        } catch (Exception own) {
            throw new BackendException(own);
        }
    }

    private CredentialsProviderAnswer submit(CredentialsProviderAnswer answer, IssuedToken issued) {
        if (issued == null || issued.identityId() == null || issued.token() == null) {
            throw new BackendException((issued == null ? "onTokenRequired returned null" : "its identityId or its token is null")
                    + "; it returns new IssuedToken(identityId, token), both as token.mintForDeveloper answered them to your backend.");
        }
        return methods.submitToken(
                p -> p.continuationToken(answer.continuationToken()).identityId(issued.identityId()).token(issued.token()));
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
            throw new CallInterruptedException(call);
        }
    }
}
