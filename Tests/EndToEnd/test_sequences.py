"""Random sequences of operations against the reference model of the rules (model.py)."""

import os
import random

from endtoend import EndToEnd
from sequences import run_all


class Sequences(EndToEnd):
    def test_results_match_the_model(self):
        """MINTMARK_TEST_SEQUENCES sets the number of sequences. A failure prints the command that repeats its sequence."""
        outcomes = run_all(int(os.environ.get("MINTMARK_TEST_SEQUENCES", 300)), random.randrange(1 << 32))
        # Outcomes that never occurred were not compared.
        for method, refusals in {
            "identity.resolve": ["", "unauthenticatedNotAllowed", "loginTokenInvalid", "loginConflict", "poolTokenNotAccepted", "publicProviderRequired"],
            "token.mintForDeveloper": ["", "identityNotFound", "identityDisabled", "developerUserAlreadyRegistered", "loginsDoNotMatch", "loginConflict", "loginTokenInvalid"],
            "token.mint": ["", "identityNotFound", "identityDisabled", "identityForbidden", "loginsDoNotMatch", "loginConflict", "classicFlowDisabled"],
            "credentials.get": ["", "identityDisabled", "identityForbidden", "loginsDoNotMatch", "tokenExpired", "tokenRevoked"],
            "token.verify": ["", "tokenExpired", "tokenRevoked"],
            "identity.mergeDevelopers": ["", "developerUserNotFound", "loginConflict"],
            "identity.unlink": ["", "identityNotFound", "identityDisabled", "identityForbidden", "loginsDoNotMatch", "loginNotLinked"],
            "identity.unlinkDeveloper": ["", "identityNotFound", "developerUserNotFound", "loginConflict"],
            "identity.lookupDeveloper": ["", "identityNotFound", "developerUserNotFound", "loginConflict"],
            "identity.delete": [""],
        }.items():
            for refusal in refusals:
                self.assertGreater(outcomes[method, refusal], 0, (method, refusal))
