import JSON
import Testing

@testable import Contract

/// The codes and types of the errors. They must not change, because client programs compare against them.
@Suite struct ErrorTests {
    static let numbers: [(code: Int, type: String)] = [
        (-32700, "parseError"),
        (-32600, "invalidRequest"),
        (-32601, "methodNotFound"),
        (-32602, "invalidParams"),
        (-32603, "internalError"),
        (-32800, "requestCancelled"),
        (1001, "shuttingDown"),
        (1002, "resultTooLarge"),
        (1003, "tooManyRequests"),
        (1004, "callerNotAllowed"),
        (1005, "invalidCursor"),
        (2001, "poolNotFound"),
        (2002, "poolExists"),
        (2003, "identityNotFound"),
        (2004, "identityDisabled"),
        (2005, "unsupportedDeveloperProvider"),
        (2006, "loginsDoNotMatch"),
        (2007, "developerUserAlreadyRegistered"),
        (2008, "loginConflict"),
        (2009, "invalidLogin"),
        (2010, "invalidPrincipalTags"),
        (2011, "identityForbidden"),
        (2012, "publicProviderRequired"),
        (2013, "poolTokenNotAccepted"),
        (2014, "unsupportedLoginProvider"),
        (2015, "samlNotSupported"),
        (2016, "loginTokenInvalid"),
        (2017, "classicFlowDisabled"),
        (2018, "developerUserNotFound"),
        (2019, "unauthenticatedNotAllowed"),
        (2020, "loginNotLinked"),
        (2021, "developerProviderFixed"),
        (2022, "invalidPoolProvider"),
        (2023, "tooManyTags"),
        (2024, "invalidRoleMapping"),
        (2025, "principalTagsNotFound"),
        (2080, "legacyProviderNotSupported"),
        (3001, "tokenMalformed"),
        (3002, "tokenAlgorithmNotAllowed"),
        (3003, "tokenKeyUnknown"),
        (3004, "tokenSignatureInvalid"),
        (3005, "tokenExpired"),
        (3006, "tokenNotYetValid"),
        (3007, "tokenAudienceMismatch"),
        (3008, "tokenIssuerMismatch"),
        (3009, "tokenUseMismatch"),
        (3010, "tokenRevoked"),
        (3011, "roleNotFound"),
        (3012, "roleNotConfigured"),
        (3013, "assumeRoleDenied"),
        (3014, "durationExceedsRoleMaximum"),
        (3015, "malformedPolicy"),
        (3016, "packedPolicyTooLarge"),
        (3017, "sessionTokenInvalid"),
        (3018, "credentialsExpired"),
        (3019, "credentialsRevoked"),
        (3020, "signatureMismatch"),
        (3021, "requestExpired"),
        (3022, "requestTimeTooSkewed"),
        (3023, "signatureMalformed"),
        (3024, "bodyHashMismatch"),
        (3025, "credentialScopeMismatch"),
        (3026, "keyNotFound"),
        (3027, "issuerNotFound"),
        (3028, "roleNotOffered"),
        (3029, "ambiguousRoleDenied"),
        (3030, "providerNotOpen"),
        (3031, "tokenNotAwaited"),
        (3032, "tooManyProviders"),
        (3080, "providerOvertaken"),
        (3160, "tokenTooWeak"),
        (3200, "tokenClaimRejected"),
        (3201, "tokenReplayed"),
        (3202, "invalidTrustedIssuer"),
        (3203, "trustedIssuerNotFound"),
        (3204, "tooManyTrustedIssuers"),
        (3240, "tokenTypeNotSupported"),
        (3241, "exchangeNotAllowed"),
        (3242, "actorTokenRequired"),
        (3243, "actorNotAllowed"),
        (3244, "delegationTooDeep"),
        (3245, "subjectTokenInvalid"),
        (3250, "outboundFederationDisabled"),
        (3251, "sessionDurationEscalation"),
        (3252, "tokenPayloadTooLarge"),
        (4001, "tenantNotFound"),
        (4002, "tenantExists"),
        (4003, "tenantNotDeletable"),
        (4004, "invalidTenantSettings"),
        (4005, "signUpNotAllowed"),
        (4006, "invalidUsername"),
        (4007, "userAlreadyExists"),
        (4008, "invalidPassword"),
        (4009, "invalidCode"),
        (4010, "invalidAttributes"),
        (4011, "continuationTokenInvalid"),
        (4012, "continuationTokenExpired"),
        (4013, "stepNotPossible"),
        (4014, "tooManyCodes"),
        (4015, "accountLocked"),
        (4016, "passwordNotAccepted"),
        (4017, "userNotFound"),
        (4018, "passwordNotSet"),
        (4019, "passwordChangeRequired"),
        (4020, "refreshTokenInvalid"),
        (4021, "refreshTokenExpired"),
        (4022, "refreshTokenReused"),
        (4023, "audienceNotOffered"),
        (4060, "tooManyFromClient"),
        (4061, "scopeNotOffered"),
        (4062, "scopeNotGranted"),
        (4063, "tokenScopeMissing"),
        (4064, "codeExpired"),
        (4065, "flowFinished"),
        (4066, "flowEnded"),
        (4067, "sendUnderway"),
        (4068, "tooManyFailedSends"),
        (4100, "refusedByHook"),
        (4101, "hookFailed"),
        (4102, "hooksNotOffered"),
        (4120, "actionCodeInvalid"),
        (4121, "actionCodeExpired"),
        (4122, "linkUrlMissing"),
        (4160, "tenantDisabled"),
        (4161, "sessionExpired"),
        (4130, "phoneSignInNotAllowed"),
        (4131, "phoneNumberUnknown"),
        (4140, "clientUnknown"),
        (4141, "clientNotPermitted"),
        (4142, "invalidApplication"),
        (4143, "tooManyApplications"),
        (4150, "clientNotConfidential"),
        (4151, "tooManyClientSecrets"),
        (4152, "clientSecretNotFound"),
        (4153, "lastClientSecret"),
        (4154, "clientSecretInvalid"),
        (4144, "attributeNotYours"),
        (4145, "secondFactorRequired"),
        (4162, "sessionNotFound"),
        (4163, "factorKindNotAccepted"),
        (4260, "eventsExpired"),
        (4261, "eventCursorUnknown"),
        (4262, "eventsNeedHost"),
        (4263, "eventStreamNotFound"),
        (4264, "eventStreamConflict"),
        (4265, "tooManyEventStreams"),
        (4270, "eventReceiverInvalid"),
        (4271, "eventStreamPushes"),
        (4272, "tooManyEventPolls"),
        (4273, "eventStreamDisabled"),
        (5001, "accountNotFound"),
        (5002, "accountDisabled"),
        (5003, "accountExists"),
        (5004, "claimNameReserved"),
        (5005, "claimsTooLong"),
        (5006, "recentSignInRequired"),
        (5020, "credentialAlreadyInUse"),
        (5021, "emailAlreadyInUse"),
        (5022, "providerAlreadyLinked"),
        (5023, "providerNotLinked"),
        (5024, "lastProvider"),
        (5025, "userMismatch"),
        (5026, "accountMerged"),
        (5027, "anonymousNotAllowed"),
        (5028, "customTokenInvalid"),
        (5029, "mergeUndecided"),
        (5040, "importFileUnreadable"),
        (5041, "invalidHashParameters"),
        (5042, "exportFileExists"),
        (5043, "exportFailed"),
        (5060, "addressDiffers"),
        (5061, "phoneNumberInUse"),
        (5062, "providerSubjectInUse"),
        (5250, "accountIsAgent"),
        (5251, "tooManyAgents"),
        (6001, "providerUnavailable"),
        (6002, "providerUnusable"),
        (6003, "idpNotFound"),
        (6004, "idpExists"),
        (6005, "invalidIdp"),
        (6006, "idpDisabled"),
        (6007, "invalidCredential"),
        (6008, "invalidNonce"),
        (6009, "pendingTokenInvalid"),
        (6010, "callbackInvalid"),
        (6011, "signInRefused"),
        (6012, "flowUsed"),
        (6013, "listenerGone"),
        (6014, "listenerUnavailable"),
        (6020, "providerTokenNotKept"),
        (6021, "providerTokenExpired"),
        (6022, "providerTokenRefused"),
        (7001, "secondFactorsOff"),
        (7002, "unsupportedFirstFactor"),
        (7003, "emailNotVerified"),
        (7004, "tooManyFactors"),
        (7005, "factorExists"),
        (7006, "factorNotFound"),
        (7007, "lastFactor"),
        (7008, "factorCodeInvalid"),
        (7009, "secondFactorNeeded"),
        (7010, "noSecondFactor"),
        (7011, "invalidPhoneNumber"),
        (7012, "factorAddsNothing"),
        (7013, "factorTargetMissing"),
        (7020, "passkeyNotAccepted"),
        (7021, "passkeysOff"),
        (7022, "passkeyNotFound"),
        (7023, "passkeyNotSet"),
        (7024, "tooManyPasskeys"),
        (8001, "storeBusy"),
        (8002, "storeReadOnly"),
        (8003, "storeFull"),
        (8004, "storeCorrupt"),
        (8005, "storeTooNew"),
        (8006, "storeTooOld"),
        (8007, "storeCannotOpen"),
        (8008, "notAStore"),
        (8009, "masterKeyMissing"),
        (8010, "masterKeyWrong"),
        (8011, "testingStoreMismatch"),
        (8012, "outcomeUnknown"),
        (8013, "backupFileExists"),
        (8014, "backupNotHere"),
        (8015, "backupFailed"),
        (8016, "newMasterKeyNeeded"),
        (8017, "invalidMasterKey"),
        (8018, "storeNotEmpty"),
        (8019, "copyNotVerified"),
        (8030, "messageNotSent"),
        (9001, "clockOutOfRange"),
        (9002, "noKeyInState"),
        (9010, "portUnavailable"),
        (9020, "snapshotNotFound"),
        (9021, "snapshotUnusable"),
        (9022, "snapshotVersionMismatch"),
        (9023, "snapshotSealMismatch"),
        (9024, "snapshotFileExists"),
        (9025, "snapshotNotWritten"),
        (9026, "tooManySnapshots"),
    ]

    @Test("every error has exactly one pinned code and type")
    func pinned() {
        #expect(ErrorTable.all.map { "\($0.code) \($0.type)" }.sorted() == Self.numbers.map { "\($0.code) \($0.type)" }.sorted())
    }

    @Test("positive error codes are between 1000 and 9999, outside of the range reserved by JSON-RPC")
    func blocks() {
        for error in ErrorTable.all where error.code > 0 { #expect((1...9).contains(error.code / 1000), "\(error.code)") }
    }

    @Test("message parts for absent data are omitted, and every sentence ends with one full stop")
    func sometimes() {
        #expect(ContinuationTokenExpired().message == "The flow has expired. Start a new flow.")
        #expect(ContinuationTokenExpired(expiredAt: 9).message == "The flow has expired: it ended at 9. Start a new flow.")
        #expect(
            InvalidCode(attemptsLeft: 1).message
                == "The code is wrong. Attempts left for this code: 1. The continuation token stays valid.")
        #expect(
            InvalidTenantSettings(pointer: "/a", reason: "It cannot be read.").message
                == "The settings are not valid at '/a': It cannot be read.")
        let reasons: [PasswordFailure] = [.init(rule: .tooShort, message: "It is short."), .init(rule: .tooWeak, message: "It is weak.")]
        #expect(InvalidPassword(reasons: reasons).message == "The password is not accepted. It is short. It is weak.")
    }

    @Test("an error inserts its data into its message and writes the data with its type")
    func data() throws {
        let error = TokenAudienceMismatch(expected: "a", actual: ["b", "c"])
        #expect(error.message == "Wrong token audience: expected a, got b, c. Get a token for the expected audience.")
        var writer = JSONWriter()
        error.writeData(to: &writer)
        #expect(try JSONValue(parsing: writer.bytes) == ["type": "tokenAudienceMismatch", "expected": "a", "actual": ["b", "c"]])
    }

    @Test("a temporary error contains retryAfterSeconds and is retryable")
    func retryable() throws {
        var writer = JSONWriter()
        StoreBusy(retryAfterSeconds: 3).writeData(to: &writer)
        #expect(try JSONValue(parsing: writer.bytes) == ["type": "storeBusy", "retryAfterSeconds": 3])
        #expect(
            ErrorTable.all.filter(\.isRetryable).map(\.type) == ["shuttingDown", "tooManyRequests", "providerUnavailable", "storeBusy"])
    }

    @Test("absent optional members are omitted from the error data")
    func optional() throws {
        var writer = JSONWriter()
        TokenKeyUnknown(reason: "why").writeData(to: &writer)
        #expect(try JSONValue(parsing: writer.bytes) == ["type": "tokenKeyUnknown", "reason": "why"])
    }
}
