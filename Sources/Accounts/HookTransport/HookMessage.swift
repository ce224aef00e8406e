import JSON
import Messages

/// A message about which the hook `beforeSendMessage` decides.
struct HookMessage: Sendable {
    /// What a code for a second factor is for.
    enum FactorUse: String, Sendable { case signIn, enrollment }

    let purpose: MessagePurpose
    let recipient: Recipient
    var language: String?
    /// Present if the code is for a second factor.
    var factor: FactorUse?

    /// The message as hooks get it.
    var object: JSONObject {
        var object: JSONObject = [
            "channel": .string(recipient.channel.rawValue), "to": .string(recipient.text), "purpose": .string(purpose.rawValue),
        ]
        object["language"] = language.map { .string($0) }
        object["secondFactor"] = factor.map { .string($0.rawValue) }
        return object
    }
}

extension Flow {
    /// What the codes of the flow are for, if they are for a second factor.
    var factorStep: HookMessage.FactorUse? {
        switch stage {
        case .secondFactorRequired: .signIn
        case .enrollmentRequired, .enrollmentCode: .enrollment
        default: kind == .factorEnrollment ? .enrollment : nil
        }
    }
}
