/// What guests may do at most, whatever their role says: a session policy that the enhanced flow forces upon them (cognito.md 6.5).
enum GuestScope {
    /// Stands in the session token for `policy`, which is ten times as long.
    static let mark = "guest"

    /// The policy: a statement for the inline policy and one for the managed policy that AWS gives to guests. What either allows is
    /// within the scope, or the managed one's `rum:PutRumEvents` would never be.
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
        // AmazonCognitoUnAuthedIdentitiesSessionPolicy.
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
