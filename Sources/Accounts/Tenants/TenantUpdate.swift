import Contract
import ServiceContext

extension TenantService {
    /// Updates the given settings of a tenant. A change of `localAccountMethod` affects only new accounts.
    ///
    /// - Throws: `TenantNotFound`, `InvalidTenantSettings`.
    public func update(_ request: TenantUpdate.Params, _ call: any CallContext) throws -> TenantUpdate.Result {
        let now = context.clock.now
        let given = request.delivery?.sealed(for: request.tenantId, context.vault)
        if let passkeys = request.passkeys { try AuthenticatorMetadataFiles.check(passkeys, at: now) }
        let changed = try context.database.write { tx in
            try tx.lock([KeyOwner.tenant(request.tenantId).path])
            guard let tenant = try tx.tenant(request.tenantId) else { throw TenantNotFound(tenantId: request.tenantId) }
            var settings = request.over(tenant.settings)
            let delivery = given?.keepingSecrets(of: tenant.settings.delivery) ?? tenant.settings.delivery
            settings.delivery = try delivery?.opened(for: tenant.id, context.vault)
            try TenantRules.check(lessAssurance: request.acceptsLessAssurance, from: tenant, to: settings.assurance)
            // Attributes of an earlier version that are no longer valid must not prevent other changes.
            try TenantRules.check(settings, checksAttributes: request.attributes != nil)
            if !request.force { try TenantRules.check(changeOf: tenant, to: settings, in: tx) }
            settings.delivery = delivery
            let changed = TenantRecord(settings, createdAt: tenant.createdAt, updatedAt: now)
            try tx.advanceEpoch()
            try tx.update(changed)
            let event = AuditEvent(TenantUpdate.info.name, call, tenant: tenant.id, details: changed.assuranceChange(from: tenant))
            try context.audit.record(event, at: now, in: tx)
            return changed
        }
        return changed.answer(in: context.realm)
    }
}

extension TenantUpdate.Params {
    /// Returns `settings` with the given members replaced.
    package func over(_ settings: TenantCreate.Params) -> TenantCreate.Params {
        TenantCreate.Params(
            tenantId: settings.tenantId, name: name ?? settings.name, localAccountMethod: localAccountMethod ?? settings.localAccountMethod,
            signUpAllowed: signUpAllowed ?? settings.signUpAllowed, attributes: attributes ?? settings.attributes,
            audiences: audiences ?? settings.audiences, scopes: scopes ?? settings.scopes,
            passwordPolicy: passwordPolicy ?? settings.passwordPolicy,
            codes: codes ?? settings.codes, lockout: lockout ?? settings.lockout, tokens: tokens ?? settings.tokens,
            enumerationProtection: enumerationProtection ?? settings.enumerationProtection,
            recyclesAddresses: recyclesAddresses ?? settings.recyclesAddresses,
            oneAccountPerAddress: oneAccountPerAddress ?? settings.oneAccountPerAddress,
            mfa: mfa ?? settings.mfa, totpAdjacentIntervals: totpAdjacentIntervals ?? settings.totpAdjacentIntervals,
            notices: notices ?? settings.notices, audienceScopes: audienceScopes ?? settings.audienceScopes,
            idTokenProfile: idTokenProfile ?? settings.idTokenProfile,
            authenticationContexts: authenticationContexts ?? settings.authenticationContexts,
            anonymousAllowed: anonymousAllowed ?? settings.anonymousAllowed,
            phoneSignIn: phoneSignIn ?? settings.phoneSignIn,
            passkeys: passkeys ?? settings.passkeys, customTokenSigners: customTokenSigners ?? settings.customTokenSigners,
            delegations: delegations ?? settings.delegations,
            subjectIssuers: subjectIssuers ?? settings.subjectIssuers, idJag: idJag ?? settings.idJag,
            transactionTokens: transactionTokens ?? settings.transactionTokens,
            assurance: assurance ?? settings.assurance, disabled: disabled ?? settings.disabled,
            lockCovers: lockCovers ?? settings.lockCovers, acceptsSmsRisk: acceptsSmsRisk ?? settings.acceptsSmsRisk,
            signingAlgorithm: settings.signingAlgorithm)
    }
}
