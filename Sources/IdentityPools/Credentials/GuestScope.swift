/// The maximum permissions of guests, regardless of their role: the session policy that the enhanced flow adds to their credentials.
enum GuestScope {
    /// Represents `policy` in the session token, to keep the token short.
    static let mark = "guest"

    /// The policy, with one statement for the inline policy and one for the managed policy that AWS applies to guests. The scope is the
    /// union of both; otherwise `rum:PutRumEvents` of the managed policy would never be allowed.
    static let policy: String = {
        let whole = [
            "apigateway", "execute-api", "appsync", "cloudwatch", "logs", "codewhisperer", "cognito-identity", "cognito-sync",
            "cognito-idp",
            "comprehend", "dynamodb", "firehose", "gamelift", "iot", "kinesisanalytics", "lambda", "lex", "geo", "machinelearning",
            "mobileanalytics", "personalize", "polly", "rekognition", "s3", "ses", "sdb", "sns", "sqs",
            "transcribe", "translate",
        ].map { "\"\($0):*\"" }
        let single = [
            "kms:Encrypt", "kms:Decrypt", "kms:ReEncrypt*", "kms:GenerateDataKey*", "sagemaker:InvokeEndpoint", "sumerian:View*",
            "textract:DetectDocumentText", "textract:AnalyzeDocument",
        ].map { "\"\($0)\"" }
        // The managed policy `AmazonCognitoUnAuthedIdentitiesSessionPolicy`.
        let managed = [
            "rum:PutRumEvents", "sagemaker:InvokeEndpoint", "polly:*", "comprehend:*", "translate:*", "transcribe:*", "rekognition:*",
            "mobiletargeting:*", "firehose:*", "personalize:*",
        ].map { "\"\($0)\"" }
        let statements = [("Services", whole + single), ("Managed", managed)].map { name, actions in
            #"{"Sid":"\#(name)","Effect":"Allow","Action":["# + actions.joined(separator: ",") + #"],"Resource":"*"}"#
        }
        return #"{"Version":"2012-10-17","Statement":["# + statements.joined(separator: ",") + "]}"
    }()
}
