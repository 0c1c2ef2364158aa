import Fieldpack
import FieldpackCore
import FieldpackGeometry

extension JSONValue {
  /// The stores of a workspace with their state; those in `failures` did not answer.
  static func stores(
    of workspace: Workspace, asked: [StoreID]?, failures: [StoreFailure]
  ) -> JSONValue {
    let members = workspace.members.filter { asked?.contains($0.id) ?? true }
    return .array(
      members.map { member in
        let error = member.state.error ?? failures.first { $0.store == member.id }?.error
        return [
          "store": .text(member.id.rawValue), "state": error == nil ? "open" : "failed",
          "error": error.map { JSONValue(reason: $0) } ?? nil,
        ]
      })
  }

  /// Code and message of an error.
  init(reason error: FieldpackError) {
    self = ["code": .text(error.code.name), "message": .text(error.text)]
  }

  /// `[minX, minY, maxX, maxY]`; null where a bound is infinite, which JSON cannot say.
  init(_ envelope: Envelope?) {
    let bounds = envelope.map { [$0.minX, $0.minY, $0.maxX, $0.maxY] } ?? []
    guard envelope?.isEmpty == false, bounds.allSatisfy(\.isFinite) else {
      self = nil
      return
    }
    self = .array(bounds.map { .real($0) })
  }

  /// The column's name and type.
  init(_ column: ColumnDefinition) {
    self = ["column": .text(column.name), "type": .text(column.type.title)]
  }
}

extension ColumnType {
  /// The type as people know it: as in SQL, and JSON by its name.
  var title: String { self == .json ? "JSON" : sql }
}
