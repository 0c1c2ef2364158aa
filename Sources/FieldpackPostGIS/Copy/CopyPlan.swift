import FieldpackCore
import FieldpackGeometry

/// How rows of one schema become rows of one table, sent by `COPY … FROM STDIN (FORMAT binary)`.
struct CopyPlan: Sendable {
  /// A column of the table that the rows bring.
  struct Column: Sendable {
    /// The index in the rows' schema.
    var source: Int
    var name: String
    var type: BinaryType
  }

  struct Geometry: Sendable {
    var name: String
    var srid: Int32
    /// What the column takes.
    var rule: GeometryColumn
  }

  /// The store and the layer that errors name.
  var store: StoreID
  var layer: LayerID
  /// The column of the ids and its type, where rows bring theirs.
  var id: (name: String, type: BinaryType)?
  var geometry: Geometry?
  var columns: [Column]
  /// A column of text that gets the ids of the rows.
  var idText: String?
  /// Gives the number of a feature's place, where the layer is divided over servers.
  var place: ShardKey?

  /// The names of the table's columns, in the order of the fields.
  var names: [String] {
    [id?.name, geometry?.name].compactMap(\.self) + columns.map(\.name)
      + [idText, place.map { _ in ShardKey.column }].compactMap(\.self)
  }
}

extension GeometryColumn {
  /// Why a column of PostGIS cannot hold geometries of a type and dimensions; `nil` where it can.
  ///
  /// A column of a type takes that type alone, but for GEOMETRYCOLLECTION, which takes Multi types
  /// (`postgis_valid_typmod` in postgis/gserialized_typmod.c).
  func refusalByPostGIS(of type: GeometryType, _ dimensions: Dimensions) -> String? {
    let isMulti = type == .multiPoint || type == .multiLineString || type == .multiPolygon
    if self.type != .geometry, self.type != type, !(self.type == .geometryCollection && isMulti) {
      return "takes \(self.type.name), the feature has \(type.name)"
    }
    return Self.refusal("z", z, dimensions.hasZ) ?? Self.refusal("m", m, dimensions.hasM)
  }

  private static func refusal(
    _ name: StaticString, _ rule: OrdinateRule, _ has: Bool
  ) -> String? {
    if rule == .prohibited, has { return "takes no \(name), the feature has one" }
    if rule == .mandatory, !has { return "needs \(name), the feature has none" }
    return nil
  }

  /// Whether a geometry is stored as the only member of its Multi type.
  func promotes(_ type: GeometryType) -> Bool { type.multi == self.type && self.type != .geometry }
}
