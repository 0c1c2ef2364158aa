import Fieldpack
import FieldpackCore
import FieldpackSensors

extension SensorDesk {
  /// Logs a click on the page that has been done, where clicks are logged.
  ///
  /// - Parameters:
  ///   - path: the parts below `/sensors`, which name the person or the item.
  ///   - document: the answer, which names a new person.
  nonisolated func note(
    _ method: String, _ path: [String], _ document: JSONValue
  ) async throws(FieldpackError) {
    guard interactions.isOn, let click = Self.click(method, path) else { return }
    let layer = path[0] == "persons" ? SensorLayers.person : SensorLayers.item
    let name = path.count > 1 ? path[1] : document["id"].map(\.text) ?? ""
    let key =
      Int64(name).map { KeyTuple(store: persons.store.id, layer: layer, feature: .integer($0)) }
      ?? KeyTuple(name)
    try await interactions.note(click, on: key)
  }

  /// What a click is called: as the command that does the same, where there is one.
  private static func click(_ method: String, _ path: [String]) -> StaticString? {
    switch (method, path[0], path.count == 3 ? path[2] : "") {
    case ("POST", "persons", ""): "person add"
    case ("PUT", "persons", ""): "person edit"
    case ("DELETE", "persons", ""): "person delete"
    case ("POST", "persons", "duplicate"): "person duplicate"
    case ("POST", "persons", "select"): "person select"
    case ("POST", "persons", "items"): "item setup"
    case ("PATCH", "items", ""): "item edit"
    case ("DELETE", "items", ""): "item delete"
    case ("POST", "items", "tap"): "item tap"
    case ("POST", "items", "select"): "item select"
    case ("POST", "items", "clear"): "item clear"
    default: nil
    }
  }
}
