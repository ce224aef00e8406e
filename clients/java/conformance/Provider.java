package mintmark.conformance;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import mintmark.CredentialsProvider;
import mintmark.IssuedToken;
import mintmark.Mintmark;
import mintmark.TokenRequired;
import mintmark.contract.CredentialsProviderOpenParams;
import mintmark.contract.DeveloperUserAlreadyRegisteredException;

/** A CredentialsProvider and its simulated backend. */
final class Provider {
    private final List<Map<String, String>> asked = new ArrayList<>();
    private final Mintmark mintmark;
    private final String pool;
    private final CredentialsProvider provider;
    private volatile String backend;

    Provider(Mintmark mintmark, Step step) {
        this.mintmark = mintmark;
        backend = step.text("backend");
        pool = (String) step.params().get("poolId");
        provider = new CredentialsProvider(mintmark, Typed.params(CredentialsProviderOpenParams.class, step.params()), this::token);
    }

    Object carryOut(Step step) {
        switch (step.what()) {
            case "provider.get" -> {
                return (step.truth("refresh") ? provider.refresh() : provider.get()).toJson();
            }
            case "provider.identityId" -> {
                return provider.identityId();
            }
            case "provider.asked" -> {
                synchronized (asked) {
                    return List.copyOf(asked);
                }
            }
            case "provider.setLogins" -> provider.setLogins(step.logins());
            case "provider.clearCredentials" -> provider.clearCredentials();
            case "provider.clearKeychain" -> provider.clearKeychain();
            case "provider.backend" -> backend = step.text("backend");
            case "provider.close" -> provider.close();
            default -> throw new IllegalStateException("there is no step " + step.what());
        }
        return null;
    }

    /** The simulated backend of the application. */
    private IssuedToken token(TokenRequired required) throws InterruptedException {
        synchronized (asked) {
            asked.add(required.logins());
        }
        switch (backend) {
            case "fails" -> throw new Outcomes.Down();
            case "slow" -> Thread.sleep(300);
            default -> { }
        }
        try {
            return minted(required, required.identityId().orElse(null));
        } catch (DeveloperUserAlreadyRegisteredException taken) {
            return minted(required, null);
        }
    }

    private IssuedToken minted(TokenRequired required, String identityId) {
        var minted = mintmark.token().mintForDeveloper(p -> p.poolId(pool).logins(required.logins()).identityId(identityId));
        return new IssuedToken(minted.identityId(), minted.token());
    }
}
