import Contract
import IdentityPools
import JSON
import ServiceContext
import Storage

/// The `compat.*` methods, which support the wire formats of other services.
///
/// This module only translates. The rules are those of the method behind each operation, and the contract of the method also validates the
/// input.
public struct CompatService: Sendable {
    let context: ServiceContext
    let pool: PoolService
    let identity: IdentityService
    let token: PoolTokens
    let credentials: CredentialsService
    let role: RoleService
    let issuer: IssuerService
    let outbound: OutboundTokens
    let firebase: FirebaseService
    let entra: EntraService

    public init(_ context: ServiceContext, _ configurations: PoolConfigurationCache, firebase: FirebaseService, entra: EntraService) {
        self.context = context
        self.firebase = firebase
        self.entra = entra
        pool = PoolService(context, configurations)
        identity = IdentityService(context, configurations)
        token = PoolTokens(context, configurations)
        credentials = CredentialsService(context, configurations)
        role = RoleService(context, configurations)
        issuer = IssuerService(context, configurations)
        outbound = OutboundTokens(context, configurations)
    }

    /// Creates the tenant of a Firebase project if it does not exist.
    public func openFirebase(project: String, _ call: any CallContext) throws { try firebase.open(project: project, call) }

    /// Throws the error that `test.fault` has injected into this method.
    ///
    /// - Throws: `ChosenError`.
    func meetFault<M: ContractMethod>(of method: M.Type, _ call: any CallContext) throws {
        if let error = context.faults?.error(of: M.info.name) { throw error }
    }

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
            answer = try CognitoProtocol(service: self, request: request, context: call, arrivedByHTTP: arrivedByHTTP)
                .answer(target: target)
        } else if let action = request.parameter("Action"), request.isForIAM {
            answer = try IAMProtocol(
                service: self, request: request, context: call, arrivedByHTTP: arrivedByHTTP, requestId: requestId
            ).answer(action: action)
        } else if let action = request.parameter("Action") {
            answer = try STSProtocol(
                service: self, request: request, context: call, arrivedByHTTP: arrivedByHTTP, requestId: requestId
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

/// An error in the format of the emulated service.
struct WireError: Error, Equatable {
    let code: String
    let message: String
    let status: Int64

    init(_ code: String, _ message: String, status: Int64 = 400) {
        self.code = code
        self.message = message
        self.status = status
    }

    static func invalidParameter(_ message: String) -> WireError { WireError("InvalidParameterException", message) }
    static let poolConfiguration = WireError(
        "InvalidIdentityPoolConfigurationException", "Invalid identity pool configuration. Check assigned IAM roles for this pool.")
    static func internalFailure(_ code: String) -> WireError {
        WireError(code, "The request processing has failed because of an unknown error, exception or failure.", status: 500)
    }
}

extension WireError {
    /// Runs an operation. Its errors are translated by `translate`, and injected errors by `translateChosen`. Other errors
    /// are rethrown.
    static func catching<R>(
        internalCode: String, _ translate: (any ContractError) -> WireError, _ translateChosen: (ChosenError) -> WireError,
        _ body: () throws -> R
    ) throws -> Result<R, WireError> {
        do { return .success(try body()) } catch let error as WireError {
            return .failure(error)
        } catch let error as ChosenError {
            return .failure(translateChosen(error))
        } catch let error as any ContractError {
            return .failure(translate(error))
        } catch is StoreError {
            return .failure(.internalFailure(internalCode))
        }
    }
}
