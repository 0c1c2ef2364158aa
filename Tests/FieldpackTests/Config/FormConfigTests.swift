import Fieldpack
import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@Suite struct FormConfigTests {
  private static func config(_ text: String) throws -> WorkspaceConfig {
    WorkspaceConfig(
      try ConfigDocument(Array(text.utf8), file: "a.scfg"), folder: "/")
  }

  private static func field(_ rest: String) throws -> (FormField, [String]) {
    let config = try config(
      """
      {"forms": [{"id": 1, "form_key": "a", "form_label": "A", "version": 1, "fields": [
      {"field_key": "k", "field_label": "K", "type": "number", \(rest)}]}]}
      """)
    return (try #require(config.forms.first?.fields.first), config.diagnostics.map(\.message))
  }

  private static func constraints(
    _ change: (inout FormConstraints) -> Void
  ) -> FormConstraints {
    var constraints = FormConstraints()
    change(&constraints)
    return constraints
  }

  static let fields: [(String, Bool, FormConstraints)] = [
    ("\"constraints\": null", false, FormConstraints()),
    ("\"is_required\": true, \"constraints\": {}", true, FormConstraints()),
    (
      """
      "is_required": false, "constraints": {"initial_value": "1", "minimum": "1", "maximum": 5.5,
      "is_integer": true, "integer": false, "pattern": "", "minimum_length": ""}
      """, false,
      constraints {
        ($0.initialValue, $0.isInteger) = ("1", true)
        ($0.minimum, $0.maximum) = (.init(1), .init(5.5))
      }
    ),
    (
      """
      "constraints": {"minimum": 1, "exclusive_minimum": true, "maximum": 9,
      "exclusive_maximum": "8", "integer": true, "initial_value": 0}
      """, false,
      constraints {
        ($0.initialValue, $0.isInteger) = ("0", true)
        ($0.minimum, $0.maximum) = (.init(1, isExclusive: true), .init(8, isExclusive: true))
      }
    ),
    (
      """
      "constraints": {"minimum_length": "5", "maximum_length": 9, "pattern": "^a",
      "options": ["x", 2, "y"], "initial_value": false}
      """, false,
      constraints {
        ($0.initialValue, $0.pattern, $0.options) = ("false", "^a", ["x", "2", "y"])
        ($0.minimumLength, $0.maximumLength) = (5, 9)
      }
    ),
  ]

  @Test(arguments: fields.indices) func `constraints are read as backends write them`(
    index: Int
  ) throws {
    let (text, isRequired, constraints) = Self.fields[index]
    let (field, diagnostics) = try Self.field(text)
    #expect(
      field
        == FormField(
          key: "k", label: "K", kind: .number, isRequired: isRequired, constraints: constraints))
    #expect(diagnostics == [])
  }

  @Test func `fields are in the order of their positions`() throws {
    let fields = ["b", "c", "a", "d"].enumerated().map { index, key in
      let position = index == 3 ? "" : ", \"position\": \(["1", "\"1\"", "0"][index])"
      return "{\"field_key\": \"\(key)\", \"field_label\": \"x\", \"type\": \"date\"\(position)}"
    }
    let config = try Self.config(
      """
      {"forms": [{"id": 7, "form_key": "a", "form_label": "A", "version": "2", "team_id": 3,
      "metadata": {"count": 1}, "fields": [\(fields.joined(separator: ","))]}]}
      """)
    #expect(
      config.forms == [
        FormConfig(
          id: 7, key: "a", label: "A", version: 2, team: 3,
          fields: ["a", "b", "c", "d"].map { FormField(key: $0, label: "x", kind: .date) },
          position: FilePosition(file: "a.scfg", line: 1, column: 12))
      ])
    #expect(config.diagnostics == [])
  }

  static let remotes: [(String, RemoteConfig)] = [
    ("{}", RemoteConfig(uri: "http://localhost:8085")),
    ("{\"http_host\": \"::1\", \"http_port\": 1}", RemoteConfig(uri: "http://[::1]:1")),
    ("\"https://a.b/config\"", RemoteConfig(uri: "https://a.b/config")),
    (
      """
      {"http_protocol": "https", "http_host": "a.b", "http_port": 443, "auth": "exchange",
      "client_id": "c"}
      """, RemoteConfig(uri: "https://a.b:443", authentication: .exchange(clientID: "c"))
    ),
    (
      "{\"http_host\": \"a.b\", \"auth\": \"exchange\", \"client_id\": \"c\"}",
      RemoteConfig(uri: "http://a.b:80", authentication: .exchange(clientID: "c"))
    ),
    (
      "{\"mqtt_host\": \"m\", \"auth\": \"no-auth\", \"http_port\": \"81\"}",
      RemoteConfig(
        uri: "http://localhost:81", broker: .init(isEncrypted: false, host: "m"),
        authentication: .none)
    ),
    (
      "{\"mqtt_protocol\": \"ssl\", \"mqtt_host\": \"m\", \"mqtt_port\": 8883, \"auth\": \"jwt\"}",
      RemoteConfig(
        uri: "http://localhost:8085", broker: .init(isEncrypted: true, host: "m", port: 8883))
    ),
  ]

  @Test(arguments: remotes.indices) func `a backend is read with its defaults`(
    index: Int
  ) throws {
    var (text, expected) = Self.remotes[index]
    expected.position = FilePosition(file: "a.scfg", line: 1, column: 12)
    let config = try Self.config("{\"remote\": \(text)}")
    #expect(config.remote == expected)
    #expect(config.diagnostics == [])
  }

  @Test(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
  func `the forms and the backend of the field's largest config are read`() throws {
    let config = try WorkspaceConfig([SharedData.url("spatialconnect/mobile/remote-full.scfg").path]
    )
    #expect(config.remote?.uri == "http://dev.spatialconnect.boundlessgeo.com:8085")
    #expect(
      config.remote?.broker
        == .init(isEncrypted: false, host: "dev.spatialconnect.boundlessgeo.com"))
    #expect(config.remote?.authentication == .server)
    #expect(
      config.forms.map { "\($0.id) \($0.key) \($0.version) \($0.fields.count)" } == [
        "36 potholes 3 3", "5 basic_data_collection 2 4", "7 test 2 1",
        "27 oil_spill_assessment_summary 15 18",
      ])
    #expect(config.forms[3].fields.first?.key == "date")
    #expect(config.forms[3].fields.last?.key == "oil_impact_types_present")
    let occurences = config.forms[1].fields[1]
    #expect(
      occurences.constraints
        == Self.constraints {
          ($0.initialValue, $0.isInteger) = ("1", true)
          ($0.minimum, $0.maximum) = (.init(1), .init(5))
        })
  }
}
