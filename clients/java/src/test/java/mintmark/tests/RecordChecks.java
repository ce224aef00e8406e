package mintmark.tests;

import static mintmark.tests.Checks.check;
import static mintmark.tests.Checks.equal;
import static mintmark.tests.Checks.expect;
import static mintmark.tests.Checks.thrown;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import mintmark.contract.AccountMethods.ImportParams;
import mintmark.contract.PoolMethods.CreateParams;
import mintmark.contract.SignInMethods;
import mintmark.contract.TestMethods.ClockParams;
import mintmark.contract.Types.IdentityDescription;
import mintmark.json.Json;
import mintmark.json.JsonException;

/** Tests of records and their builders. */
final class RecordChecks {
    private RecordChecks() {}

    static void add() {
        check("unknown members and states are kept", () -> {
            var answer = "{\"identityId\":\"i\",\"poolId\":\"p\",\"state\":\"petrified\",\"logins\":[],\"createdAt\":1,\"updatedAt\":2,"
                    + "\"aura\":{\"rays\":[1,null,2.5]}}";
            var identity = IdentityDescription.of(Json.read(answer) instanceof Map<?, ?> json ? members(json) : Map.of());
            equal(identity.state().value(), "petrified");
            equal(identity.createdAt(), Instant.ofEpochSecond(1));
            equal(identity.unknown().keySet(), Map.of("aura", 1).keySet());
            equal(Json.write(identity.toJson()), answer);
            expect(!identity.toString().contains("rays"), "what is not known may be a secret: " + identity);
        });
        check("an error for a member of an unexpected type names the member", () -> {
            var wrong = thrown(JsonException.class, () -> IdentityDescription.of(Map.of("logins", List.of("a", 2))));
            expect(wrong.getMessage().startsWith("logins: 1: "), wrong.getMessage());
        });
        check("a builder rejects a missing required value", () -> {
            var wrong = thrown(IllegalArgumentException.class, () -> CreateParams.builder().developerProvider("login.shop").build());
            expect(wrong.getMessage().contains("name"), wrong.getMessage());
        });
        check("a builder writes all its values, with times in seconds", () -> {
            var params = ClockParams.builder().freeze(true).setAt(Instant.ofEpochSecond(1_700_000_000)).unknown("speed", 2).build();
            equal(params.toJson(), Map.of("freeze", true, "setAt", 1_700_000_000L, "speed", 2));
            equal(params.toBuilder().freeze(false).build().toJson(), Map.of("freeze", false, "setAt", 1_700_000_000L, "speed", 2));
            equal(ImportParams.builder().file("/users").format(ImportParams.Format.FIREBASE).build().toJson(), Map.of("file", "/users", "format", "firebase"));
        });
        check("a record does not change with the list from which it was created", () -> {
            var accounts = new ArrayList<mintmark.contract.Types.PortableAccount>();
            var params = ImportParams.builder().accounts(accounts).build();
            accounts.add(null);
            equal(params.accounts().size(), 0);
            thrown(UnsupportedOperationException.class, () -> params.accounts().add(null));
        });
        check("secrets are written to JSON but not displayed", () -> {
            var params = SignInMethods.SubmitPasswordParams.builder().continuationToken("c-secret").password("p-secret").build();
            expect(!params.toString().contains("secret\"") && !params.toString().contains("p-secret"), params);
            equal(params.toJson().get("password"), "p-secret");
        });
    }

    private static Map<String, Object> members(Map<?, ?> json) {
        return mintmark.json.Read.OBJECT.apply(json);
    }
}
