import java.util.HashMap;
import java.util.Map;
import java.util.Scanner;
import mintmark.ApiException;
import mintmark.Mintmark;
import mintmark.contract.SignUpStep;

/** A sign-up in a terminal: every step asks the user for what it needs. Run it with {@code java -cp mintmark.jar SignUp.java shop.db}. */
public class SignUp {
    public static void main(String[] arguments) {
        try (var m = Mintmark.start(o -> o.store(arguments[0])); var input = new Scanner(System.in)) {
            System.out.println("Email address:");
            var username = input.nextLine();
            System.out.println("Welcome, " + signUp(m, username, input) + ".");
        } catch (ApiException error) {
            System.out.println(error.getMessage());
        }
    }

    /** Returns the ID of the new account. */
    static String signUp(Mintmark m, String username, Scanner input) {
        SignUpStep step = m.signUp().start(p -> p.username(username));
        while (!(step instanceof SignUpStep.Completed)) {
            if (step instanceof SignUpStep.CodeRequired required) {
                System.out.println("Code of " + required.codeLength() + " digits sent to " + required.sentTo() + ":");
                var code = input.nextLine();
                step = m.signUp().submitCode(p -> p.continuationToken(required.continuationToken()).code(code));
            } else if (step instanceof SignUpStep.PasswordRequired required) {
                System.out.println("Password:");
                var password = input.nextLine();
                step = m.signUp().submitPassword(p -> p.continuationToken(required.continuationToken()).password(password));
            } else if (step instanceof SignUpStep.AttributesRequired required) {
                Map<String, Object> values = new HashMap<>();
                for (var attribute : required.attributes()) {
                    System.out.println(attribute.label().orElse(attribute.name()) + ":");
                    values.put(attribute.name(), input.nextLine());
                }
                step = m.signUp().submitAttributes(p -> p.continuationToken(required.continuationToken()).attributes(values));
            } else {
                throw new IllegalStateException("This program is too old for the step " + step.state() + ".");
            }
        }
        return ((SignUpStep.Completed) step).accountId();
    }
}
