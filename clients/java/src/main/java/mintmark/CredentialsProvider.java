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
 * Keeps the temporary credentials of one user fresh. Where a token of the application's own backend is needed, {@link OnTokenRequired} is
 * asked for it, once for all threads that wait. Any number of threads may share one.
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
     * Makes a provider. The first call opens it; after the process has died, the next one opens it again, with the same identity.
     *
     * @param calls a client, or its methods with a time limit
     * @param params says what it is for; tokenSource is the caller in any case
     * @param backend gives tokens
     */
    public CredentialsProvider(Calls calls, Consumer<OpenParams.Builder> params, OnTokenRequired backend) {
        this(calls, Records.told(OpenParams.builder(), params).build(), backend);
    }

    /**
     * The same.
     *
     * @param calls a client, or its methods with a time limit
     * @param params what it is for; tokenSource is the caller in any case
     * @param backend gives tokens
     * @throws IllegalArgumentException if there is no backend
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
     * Credentials that are good for a while, with identityId and roleArn.
     *
     * @return these
     */
    public CredentialsProviderAnswer get() {
        return ready(open -> methods.get(p -> p.provider(open)));
    }

    /**
     * As get, and renews the credentials in any case.
     *
     * @return these
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
     * The id of the identity.
     *
     * @return the id
     */
    public String identityId() {
        return ready(open -> methods.identityId(p -> p.provider(open))).identityId();
    }

    /**
     * Says who the user is now. The identity is kept, and may become another one that the logins own.
     *
     * @param logins these
     */
    public void setLogins(Map<String, String> logins) {
        remember(logins);
        perform(open -> methods.setLogins(p -> p.provider(open).logins(logins)));
    }

    /** Drops the credentials and keeps the identity. */
    public void clearCredentials() {
        perform(open -> methods.clearCredentials(p -> p.provider(open)));
    }

    /** Drops everything: credentials, identity and logins. For a sign-out, and for another user. */
    public void clearKeychain() {
        remember(null);
        perform(open -> methods.clearKeychain(p -> p.provider(open)));
    }

    /** Closes it; the identity's id stays in the store under its key. */
    @Override
    public void close() {
        if (isClosed.getAndSet(true)) {
            return;
        }
        // One that is being opened is closed by whoever opens it.
        var last = handle;
        if (last != null) {
            close(last);
        }
    }

    private void close(String open) {
        try {
            methods.close(p -> p.provider(open));
        } catch (ProviderNotOpenException gone) {
            // Its process was started anew: there is nothing to close.
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
            // Whoever waited here may find it done.
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

    /** Calls with the provider's handle, and once more with a new one where a process that was started anew does not know it. */
    private <T> T perform(Function<String, T> call) {
        var open = open(null);
        try {
            return call.apply(open);
        } catch (ProviderNotOpenException gone) {
            return call.apply(open(open));
        }
    }

    /** The handle; a new one instead of one that is not known any more, or where there is none. */
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
            // It was closed while it was opened.
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
