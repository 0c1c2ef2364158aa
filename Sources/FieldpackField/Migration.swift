package import FieldpackCore
import FieldpackGeoPackage
import FieldpackSQLite

/// A step from an older version of a layer to a newer one.
///
/// A migration is applied once, in the transaction that first writes to the layer. The file states the
/// version that the step leads to.
package struct Migration: Sendable {
  package enum Change: Sendable {
    /// Adds those of the columns that the layer lacks.
    case add([ColumnDefinition])
    /// Gives a column another name. A layer that has the new name only is passed over.
    case rename(String, to: String)
    /// Sets a column of all rows to an SQL expression.
    case fill(String, with: String)
    /// Gives columns other definitions; the values stay. Such a column cannot be unique, and one that
    /// must not be NULL needs a default.
    case redefine([ColumnDefinition])
  }

  /// What the step is for; errors name it.
  let name: String
  /// The version that the layer has after the step.
  let version: Int64
  let changes: [Change]

  package init(_ name: String, to version: Int64, _ changes: [Change]) {
    self.name = name
    self.version = version
    self.changes = changes
  }

  func apply(to layer: LayerID, in writer: GeoPackageWriter) throws(FieldpackError) {
    do throws(FieldpackError) {
      for change in changes { try apply(change, to: layer, in: writer) }
    } catch {
      guard error.code != .interrupted, error.code != .busy else { throw error }
      throw FieldpackError(
        error.code,
        "layer '\(layer)' could not be brought to version \(version) (\(name)): \(error.message)",
        location: .init(layer: layer), underlying: error)
    }
  }

  private func apply(
    _ change: Change, to layer: LayerID, in writer: GeoPackageWriter
  ) throws(FieldpackError) {
    func has(_ column: String) throws(FieldpackError) -> Bool {
      try writer.schema(of: layer)?.columnIndex(column) != nil
    }
    switch change {
    case .add(let columns):
      var missing: [ColumnDefinition] = []
      for column in columns where try !has(column.name) { missing.append(column) }
      if !missing.isEmpty { try writer.addColumns(missing, to: layer) }
    case .rename(let old, let new):
      if try !has(old), try has(new) { return }
      try writer.renameColumn(old, to: new, in: layer)
    case .fill(let column, let expression):
      try writer.execute(
        "UPDATE \(quoted(layer.rawValue)) SET \(quoted(column)) = \(expression)")
    case .redefine(let columns):
      for column in columns { try writer.redefine(column, in: layer) }
    }
  }
}
