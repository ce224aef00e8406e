import Contract
import IdentityPools
import JSON
import ServiceContext

/// The `compat.*` methods, which support the wire formats of other services.
///
/// This module only translates. The rules are those of the method behind each operation, and the contract of the method also validates the
/// input.
public struct CompatService: Sendable {
    let context: ServiceContext
    let amazon: AmazonServices
    let firebase: FirebaseService
    let entra: EntraService

    public init(_ context: ServiceContext, _ configurations: PoolConfigurationCache, firebase: FirebaseService, entra: EntraService) {
        self.context = context
        self.firebase = firebase
        self.entra = entra
        amazon = AmazonServices(context, configurations)
    }

    /// Creates the tenant of a Firebase project if it does not exist.
    public func openFirebase(project: String, _ call: any CallContext) throws { try firebase.open(project: project, call) }

    /// Returns the response of the service to which a request is addressed.
    ///
    /// - Parameter arrivedByHTTP: Whether the request arrived at an HTTP server, not as a call of `compat.http`. Faults injected into
    ///   `compat.http` then apply here.
    /// - Throws: Only errors that no client can cause. All other errors become responses.
    func answer(_ request: WireRequest, _ call: any CallContext, arrivedByHTTP: Bool = false) throws -> WireAnswer {
        if request.header("x-amz-target") == nil, request.parameter("Action") == nil,
            let answer = try entra.answer(request, limitsClients: !arrivedByHTTP, call)
        {
            return answer
        }
        let requestId = context.random.uuid()
        var answer: WireAnswer
        if let target = request.header("x-amz-target") {
            answer = try CognitoProtocol(service: amazon, request: request, context: call, arrivedByHTTP: arrivedByHTTP)
                .answer(target: target)
        } else if let action = request.parameter("Action"), request.isForIAM {
            answer = try IAMProtocol(
                service: amazon, request: request, context: call, arrivedByHTTP: arrivedByHTTP, requestId: requestId
            ).answer(action: action)
        } else if let action = request.parameter("Action") {
            answer = try STSProtocol(
                service: amazon, request: request, context: call, arrivedByHTTP: arrivedByHTTP, requestId: requestId
            ).answer(action: action)
        } else {
            let error = WireError(
                "UnknownOperationException",
                "Both X-Amz-Target and Action are missing. Supported services are cognito-identity, sts and iam.", status: 404)
            answer = .json(error)
        }
        answer.headers.append(("x-amzn-requestid", requestId))
        return answer
    }
}

extension CompatService: CompatHandlers {}
