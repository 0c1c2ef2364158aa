import Fieldpack
import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@Suite struct WorkspaceConfigTests {
  private func config(_ text: String) throws -> WorkspaceConfig {
    WorkspaceConfig(
      try ConfigDocument(Array(text.utf8), file: "a.scfg"), folder: "/data")
  }

  /// They would be other files once the working folder is another one.
  @Test func `relative folders are those of the moment of loading`() throws {
    let text = #"{"stores":[{"store_type":"gpkg","version":"1","id":"s","uri":"a.gpkg"}]}"#
    let config = WorkspaceConfig(
      try ConfigDocument(Array(text.utf8), file: "a.scfg"), folder: ".", allowing: ["data"])
    let store = try #require(config.stores.first)
    #expect(store.folder?.hasPrefix("/") == true)
    #expect(store.allowing == [(store.folder ?? "") + "/data"])
  }

  static let stores: [(String, StoreConfig, [String])] = [
    (
      "{\"store_type\":\"gpkg\",\"version\":\"1\",\"id\":\"s\",\"name\":\"N\",\"uri\":\"a.gpkg\"}",
      StoreConfig(id: "s", name: "N", type: "gpkg", uri: "a.gpkg"), []
    ),
    (
      "{\"type\":\"geopackage\",\"id\":\"s\",\"uri\":\"a.gpkg\",\"version\":2}",
      StoreConfig(id: "s", type: "gpkg", version: "2", uri: "a.gpkg"), []
    ),
    (
      "{\"type\":\"wfs\",\"id\":7,\"uri\":\"u\",\"version\":1.1,\"name\":null,\"style\":null,"
        + "\"options\":null,\"default_layers\":null,\"team_id\":null}",
      StoreConfig(id: "7", type: "wfs", version: "1.1", uri: "u"),
      ["31: note: 'id' is a text, read as \"7\""]
    ),
    (
      "{\"type\":\"gpkg\",\"uri\":\"a.gpkg\"}",
      StoreConfig(id: "ebe4bd3bded5c5a6", type: "gpkg", uri: "a.gpkg"),
      ["12: note: the store has no 'id': its type and uri make it 'ebe4bd3bded5c5a6'"]
    ),
    (
      "{\"type\":\"geopackage\",\"uri\":\"a.gpkg\",\"id\":\"\",\"version\":null}",
      StoreConfig(id: "ebe4bd3bded5c5a6", type: "gpkg", uri: "a.gpkg"),
      ["12: note: the store has no 'id': its type and uri make it 'ebe4bd3bded5c5a6'"]
    ),
    (
      "{\"id\":\"s\"}", StoreConfig(id: "s", type: "", uri: ""),
      [
        "12: error: store 's' has no 'uri'", "12: error: store 's' has no 'store_type'",
      ]
    ),
    (
      "{\"id\":\"s\",\"uri\":[],\"type\":\"x\",\"store_type\":\"y\"}",
      StoreConfig(id: "s", type: "y", uri: ""),
      [
        "38: warning: 'type' is 'x', but 'store_type' 'y' counts",
        "28: error: 'uri' is a text, not an array", "12: error: store 's' has no 'uri'",
      ]
    ),
    (
      "{\"type\":\"x\",\"id\":\"s\",\"uri\":\"u\",\"default_layers\":[\"a\",3,\"b\"],"
        + "\"options\":[],\"default\":true}",
      StoreConfig(id: "s", type: "x", uri: "u", defaultLayers: ["a", "b"]),
      [
        "85: note: 'default' has no effect",
        "65: warning: a default layer is a text, not a number: left out",
        "82: warning: 'options' is an object, not an array",
      ]
    ),
  ]

  @Test(arguments: stores)
  func `an entry of any generation becomes a store`(
    entry: String, expected: StoreConfig, diagnostics: [String]
  ) throws {
    let config = try config("{\"stores\":[" + entry + "]}")
    var store = try #require(config.stores.first)
    #expect(store.position == FilePosition(file: "a.scfg", line: 1, column: 12))
    #expect(store.folder == "/data")
    #expect(store.storeFolder == "/data/a.stores")
    store.position = nil
    store.folder = nil
    store.storeFolder = nil
    #expect(store == expected)
    #expect(
      config.diagnostics.map { "\($0.column): \($0.severity): \($0.message)" } == diagnostics)
  }

  @Test func `an unknown key is told and kept`() throws {
    let text = """
      {
        "stores": [
          { "type": "gpkg", "id": "s", "uri": "u",
            "colour": {"a": [1]} }
        ],
        "remote": { "http_host": "h", "proxy": 1 },
        "layers": [],
        "extra": 1
      }
      """
    let config = try config(text)
    #expect(
      config.diagnostics.map(\.description) == [
        "a.scfg:7:3: note: 'layers', the forms of a later backend, is kept, not used",
        "a.scfg:8:3: warning: unknown key 'extra', kept and not used",
        "a.scfg:4:7: warning: unknown key 'colour', kept and not used",
        "a.scfg:6:33: warning: unknown key 'proxy', kept and not used",
      ])
    #expect(config.stores[0].unknown.map(\.name) == ["colour"])
    #expect(config.stores[0].unknown[0].value["a"]?.elements[0].integer == 1)
    #expect(String(decoding: config.documents[0].bytes, as: UTF8.self) == text)
  }

  @Test(arguments: [
    ("{}", []), ("{\"stores\":null,\"forms\":null,\"remote\":null}", []),
    ("{\"stores\":{}}", ["11: error: 'stores' is an array, not an object"]),
    (
      "{\"stores\":[null,5]}",
      [
        "12: note: a store is an object, not null: left out",
        "17: error: a store is an object, not a number: left out",
      ]
    ),
    ("{\"remote\":5}", ["11: error: 'remote' is an object or a uri, not a number"]),
    (
      "{\"remote\":\"file:///etc\"}",
      ["11: error: 'remote' is no uri that begins with http: left out"]
    ),
    (
      "{\"remote\":{\"http_protocol\":\"ftp\"}}",
      ["28: error: the 'http_protocol' of 'remote' is one of http, https, not 'ftp'"]
    ),
    (
      "{\"remote\":{\"http_host\":\"a@b\",\"mqtt_host\":\"c/d\"}}",
      [
        "24: error: the 'http_host' of 'remote' is the name of a host, not 'a@b'",
        "42: error: the 'mqtt_host' of 'remote' is the name of a host, not 'c/d'",
      ]
    ),
    (
      "{\"remote\":{\"mqtt_port\":65536}}",
      ["24: error: the 'mqtt_port' of 'remote' is a number from 1 to 65535"]
    ),
    (
      "{\"remote\":{\"auth\":\"exchange\"}}",
      [
        "11: error: 'remote' has no 'client_id', which signing in at an Exchange needs: left out"
      ]
    ),
    ("{\"forms\":[[]]}", ["11: error: a form is an object, not an array: left out"]),
  ])
  func `wrong kinds are told and nothing comes of them`(
    text: String, diagnostics: [String]
  ) throws {
    let config = try config(text)
    #expect(config.stores.isEmpty && config.forms.isEmpty && config.remote == nil)
    #expect(
      config.diagnostics.map { "\($0.column): \($0.severity): \($0.message)" } == diagnostics)
  }

  @Test func `an invalid form is told and left out, and others are kept`() throws {
    let text = """
      {"forms": [
      {"id": "1", "form_key": "a", "form_label": "A", "version": 0,
       "fields": [{"id": 1, "field_key": "k", "field_label": "K", "type": "string"}]},
      {"id": "2", "form_key": "", "version": 1, "fields": [], "x": 1},
      {"id": 0, "form_key": "b", "form_label": "B", "version": "one",
       "fields": [{"type": "blob", "field_label": "K"}]},
      {"id": 3, "form_key": "C 1", "form_label": "C", "version": 1,
       "fields": [{"field_key": "k", "field_label": "K", "type": "blob", "constraints": 1},
        {"field_key": "l", "field_label": "L", "type": "number", "constraints": {"minimum": "x"}}]},
      {"id": 4, "form_key": "d", "form_label": "D", "version": 1,
       "fields": [{"field_key": "k", "field_label": "K", "type": "time"},
        {"field_key": "k", "field_label": "L", "type": "time"}]}
      ]}
      """
    let config = try config(text)
    #expect(config.forms.map(\.key) == ["a", "C 1"])
    #expect(config.forms[1].fields.map(\.kind) == [nil, .number])
    #expect(
      config.diagnostics.map { "\($0.line):\($0.column): \($0.severity): \($0.message)" } == [
        "2:60: warning: the 'version' of form 'a' is not above 0",
        "4:57: warning: unknown key 'x', kept and not used",
        "4:1: error: the form has no 'form_key'", "4:1: error: the form has no 'form_label'",
        "4:1: error: the form has no 'fields'",
        "5:58: error: the 'version' of form 'b' is not above 0",
        "5:8: error: the 'id' of form 'b' is not above 0",
        "6:13: error: a field of form 'b' has no 'field_key'",
        "6:22: warning: the type of a field of form 'b' is not known (known: string, number, "
          + "integer, boolean, date, time, slider, photo, counter, select, barcode)",
        "7:23: warning: backends take a 'form_key' of a-z, 0-9 and _, a letter first, and 'C 1' is "
          + "none",
        "8:60: warning: the type of a field of form 'C 1' is not known (known: string, number, "
          + "integer, boolean, date, time, slider, photo, counter, select, barcode)",
        "8:83: warning: the 'constraints' of a field of form 'C 1' are an object, not a number: "
          + "not used",
        "9:87: warning: the 'minimum' of a field of form 'C 1' is no number: not used",
        "12:3: error: form 'd' has several fields 'k'",
      ])
  }

  private static func store(_ id: String, _ uri: String) -> String {
    "{\"stores\": [{\"type\": \"gpkg\", \"id\": \"\(id)\", \"uri\": \"\(uri)\"}]}"
  }

  @Test func `a folder's configs are loaded by name and the last wins`() throws {
    let folder = try TemporaryFolder()
    for (name, text) in [
      ("b.scfg", Self.store("same", "2")), ("a.scfg", Self.store("same", "1")),
      ("Z.scfg", Self.store("first", "0")), ("c.scfg", "{\"remote\": \"http://x\"}"),
      ("d.scfg", "{\"remote\": \"http://y/c\"}"), (".hidden.scfg", "?"), ("other.json", "?"),
    ] {
      _ = try folder.write(text, to: name)
    }
    let config = try WorkspaceConfig([folder.url.path])
    let base = folder.url.path
    #expect(
      config.documents.map(\.file) == ["Z", "a", "b", "c", "d"].map { "\(base)/\($0).scfg" })
    #expect(config.stores.map(\.id) == ["first", "same"])
    #expect(config.stores.map(\.uri) == ["0", "2"])
    #expect(config.stores[1].folder == base)
    #expect(config.remote?.uri == "http://y/c")
    #expect(
      config.diagnostics.map(\.description) == [
        "\(base)/b.scfg:1:13: warning: store 'same' replaces the one of the same id at "
          + "\(base)/a.scfg:1:13",
        "\(base)/d.scfg:1:12: note: this 'remote' replaces one loaded before",
      ])
  }

  private func config(storeCount: Int) -> String {
    let stores = (1...storeCount).map {
      #"{"store_type":"geojson","version":"1","uri":"\#($0).geojson","id":"\#($0)","name":"n"}"#
    }
    return #"{"stores":[\#(stores.joined(separator: ","))]}"#
  }

  @Test func `a thousand stores are loaded, and one more is refused`() throws {
    let folder = try TemporaryFolder()
    let full = try folder.write(config(storeCount: 1_000), to: "full.scfg")
    #expect(try WorkspaceConfig([full.path]).stores.count == 1_000)
    let more = try folder.write(config(storeCount: 20_000), to: "more.scfg")
    let error = #expect(throws: FieldpackError.self) { try WorkspaceConfig([more.path]) }
    #expect(error?.code == .invalidData)
    #expect(
      error?.message
        == "the config has more than 1000 stores, 19000 too many. Try: several configs, one "
        + "workspace each")
    #expect(error?.position?.file == more.path)
  }

  @Test func `stores beyond a thousand are left out of configs in memory`() throws {
    let document = try ConfigDocument(Array(config(storeCount: 1_002).utf8), file: "a.scfg")
    let loaded = WorkspaceConfig(document, folder: "/")
    #expect(loaded.stores.count == 1_000)
    #expect(
      loaded.diagnostics.filter { $0.severity == .error }.map(\.message) == [
        "2 stores beyond 1000 are left out"
      ])
  }

  @Test func `what is no config is an error of the whole`() throws {
    let folder = try TemporaryFolder()
    func code(_ url: URL) -> FieldpackError.Code? {
      do throws(FieldpackError) {
        _ = try WorkspaceConfig([url.path])
        return nil
      } catch { return error.code }
    }
    #expect(code(folder.url) == .notFound)
    #expect(code(folder.file("missing.scfg")) == .notFound)
    #expect(code(try folder.write("{", to: "broken.scfg")) == .invalidData)
    #expect(mkfifo(folder.file("pipe").path, 0o600) == 0)
    #expect(code(folder.file("pipe")) == .invalidArgument)
  }
}
