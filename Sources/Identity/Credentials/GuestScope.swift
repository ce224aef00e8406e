/// What guests may do at most, whatever their role says: a session policy that the enhanced flow forces upon them (cognito.md 6.5).
enum GuestScope {
    /// Stands in the session token for `policy`, which is ten times as long.
    static let mark = "guest"

    /// The policy: the services that AWS admits for guests.
    static let policy: String = {
        let whole = [
            "apigateway", "execute-api", "appsync", "cloudwatch", "logs", "codewhisperer", "cognito-identity", "cognito-sync",
            "cognito-idp",
            "comprehend", "dynamodb", "firehose", "gamelift", "iot", "kinesisanalytics", "lambda", "lex", "geo", "machinelearning",
            "mobileanalytics", "mobiletargeting", "personalize", "polly", "rekognition", "rum", "s3", "ses", "sdb", "sns", "sqs",
            "transcribe", "translate",
        ].map { "\"\($0):*\"" }
        let single = [
            "kms:Encrypt", "kms:Decrypt", "kms:ReEncrypt*", "kms:GenerateDataKey*", "sagemaker:InvokeEndpoint", "sumerian:View*",
            "textract:DetectDocumentText", "textract:AnalyzeDocument",
        ].map { "\"\($0)\"" }
        let actions = (whole + single).joined(separator: ",")
        return #"{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["# + actions + #"],"Resource":"*"}]}"#
    }()
}
