import Contract
import JSON

extension Members where Value == String {
    /// The members as a JSON object with string values, which is the stored form of tags.
    package var object: JSONObject {
        var object = JSONObject()
        for member in self { object[member.name] = .string(member.value) }
        return object
    }
}
