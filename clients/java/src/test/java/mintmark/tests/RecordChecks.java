package mintmark.tests;

import static mintmark.tests.Checks.check;
import static mintmark.tests.Checks.equal;
import static mintmark.tests.Checks.expect;
import static mintmark.tests.Checks.thrown;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import mintmark.ApiException;
import mintmark.ProtocolException;
import mintmark.Result;
import mintmark.contract.Account;
import mintmark.contract.AccountImportParams;
import mintmark.contract.FactorKind;
import mintmark.contract.IdentityDescription;
import mintmark.contract.IdentityState;
import mintmark.contract.PoolCreateParams;
import mintmark.contract.PortableAccount;
import mintmark.contract.PortableFactor;
import mintmark.contract.SignInSubmitPasswordParams;
import mintmark.contract.SignUpStep;
import mintmark.contract.TestClockParams;
import mintmark.json.Json;
import mintmark.json.Read;
import mintmark.testing.TestingMintmark;

/** Tests of parameters and results. */
final class RecordChecks {
    private RecordChecks() {}

    private static IdentityDescription identity(Map<String, ?> json) {
        return Result.of(IdentityDescription.class, json);
    }

    static void add() {
        check("unknown members and values are kept", () -> {
            var text = "{\"identityId\":\"i\",\"poolId\":\"p\",\"state\":\"petrified\",\"logins\":[],\"createdAt\":1,\"updatedAt\":2,"
                    + "\"aura\":{\"rays\":[1,null,2.5]}}";
            var identity = identity(Read.OBJECT.apply(Json.read(text)));
            equal(identity.state(), IdentityState.UNKNOWN_TO_SDK_VERSION);
            equal(identity.stateAsString(), "petrified");
            equal(identity.createdAt(), Instant.ofEpochSecond(1));
            equal(identity.unknownMembers().keySet(), Map.of("aura", 1).keySet());
            equal(Json.write(identity.toJson()), text);
            expect(!identity.toString().contains("rays"), "a member that is not known can be a secret: " + identity);
        });
        check("an error for a member of an unexpected type names the member", () -> {
            var wrong = thrown(ProtocolException.class, () -> identity(Map.of("logins", List.of("a", 2))).logins());
            expect(wrong.getMessage().contains("logins: 1: expected a text"), wrong.getMessage());
            expect(thrown(ProtocolException.class, () -> identity(Map.of()).poolId()).getMessage().contains("poolId is missing"), "in words");
        });
        check("members that may be absent are empty", () -> {
            var account = Result.of(Account.class, Map.of("accountId", "a"));
            equal(account.email(), Optional.empty());
            equal(account.lastSignInAt(), Optional.empty());
            equal(account.factors(), List.of());
        });
        check("results are equal if their JSON is equal, and do not change", () -> {
            var identity = identity(Map.of("logins", List.of("a")));
            equal(identity, identity(Map.of("logins", List.of("a"))));
            equal(identity.hashCode(), identity(Map.of("logins", List.of("a"))).hashCode());
            expect(!identity.equals(identity(Map.of("logins", List.of("b")))), "other members");
            thrown(UnsupportedOperationException.class, () -> identity.toJson().put("poolId", "p"));
            thrown(UnsupportedOperationException.class, () -> identity.logins().add("b"));
        });
        check("a missing required parameter is rejected", () -> {
            try (var m = TestingMintmark.start()) {
                var wrong = thrown(IllegalArgumentException.class, () -> m.pool().create(p -> p.developerProvider("login.shop")));
                expect(wrong.getMessage().contains("PoolCreateParams: name is required"), wrong.getMessage());
            }
        });
        check("parameters are written to JSON with times in seconds, and null removes them", () -> {
            var params = new TestClockParams().freeze(true).setAt(Instant.ofEpochSecond(1_700_000_000));
            equal(params.toJson(), Map.of("freeze", true, "setAt", 1_700_000_000L));
            equal(params.setAt(null).toJson(), Map.of("freeze", true));
            equal(new AccountImportParams().format(AccountImportParams.Format.FIREBASE).toJson(), Map.of("format", "firebase"));
            thrown(IllegalArgumentException.class, () -> new AccountImportParams().format(AccountImportParams.Format.UNKNOWN_TO_SDK_VERSION));
        });
        check("parameters do not change with the list from which they were set", () -> {
            var accounts = new ArrayList<PortableAccount>();
            var params = new AccountImportParams().accounts(accounts);
            accounts.add(new PortableAccount());
            equal(params.toJson(), Map.of("accounts", List.of()));
        });
        check("parameters can be used again", () -> {
            var params = new PoolCreateParams().name("shop");
            try (var m = TestingMintmark.start()) {
                expect(!m.pool().create(params).poolId().equals(m.pool().createAsync(params).join().poolId()), "two pools");
            }
        });
        check("an object with another value is a copy", () -> {
            var account = new PortableAccount().withEmail("a@example.com").withFactors(List.of(new PortableFactor().withKind(FactorKind.TOTP)));
            equal(account.withEmail("b@example.com").email(), Optional.of("b@example.com"));
            equal(account.withEmail(null).email(), Optional.empty());
            equal(account.email(), Optional.of("a@example.com"));
            equal(account.factors().get(0).kind(), FactorKind.TOTP);
            equal(account.toJson(), Map.of("email", "a@example.com", "factors", List.of(Map.of("kind", "totp"))));
        });
        check("secrets are written to JSON but not displayed", () -> {
            var params = new SignInSubmitPasswordParams().continuationToken("c-secret").password("p-secret");
            expect(!params.toString().contains("-secret"), params);
            equal(params.toJson().get("password"), "p-secret");
            var account = new PortableAccount().withFactors(List.of(new PortableFactor().withSecret("f-secret")));
            expect(!account.toString().contains("f-secret") && account.toString().contains("secret=[secret]"), account);
        });
        check("secrets in the results of methods called by name and in the details of errors are not displayed", () -> {
            try (var m = TestingMintmark.start()) {
                var pool = CallChecks.shop(m);
                var minted = m.call("token.mintForDeveloper", Map.of("poolId", pool.poolId(), "logins", Map.of("login.shop", "alice")));
                var token = (String) minted.toJson().get("token");
                expect(!token.isEmpty() && !minted.toString().contains(token) && minted.toString().contains("token=[secret]"), minted);
                var wrong = thrown(ApiException.class, () -> m.call("no.such", Map.of()));
                expect(wrong.data().toString().contains("method=no.such"), wrong.data());
            }
        });
        check("steps are variants, and an unknown variant keeps its JSON", () -> {
            try (var m = TestingMintmark.start()) {
                var step = m.signUp().start(p -> p.username("alice@example.com"));
                expect(step instanceof SignUpStep.CodeRequired required && required.codeLength() > 3, step);
                var token = ((SignUpStep.CodeRequired) step).continuationToken();
                expect(!step.toString().contains(token) && step.toString().startsWith("SignUpStep.CodeRequired["), step);
            }
            var other = SignUpStep.of(Map.of("state", "moonRequired", "continuationToken", "c", "moon", "full"));
            expect(other instanceof SignUpStep.Other && !other.toString().contains("full"), other);
            equal(List.of(other.state(), other.toJson().get("continuationToken"), other.toJson().get("moon")), List.of("moonRequired", "c", "full"));
        });
    }
}
