import Contract
import Storage

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
