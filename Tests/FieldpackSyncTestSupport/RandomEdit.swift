package import FieldpackCore
package import FieldpackGeometry
package import FieldpackTestSupport

/// A random change to a layer `wells` with the columns name, note and state.
package enum RandomEdit: Sendable {
  case insert(Geometry, Attributes)
  case update(Int64, Geometry?, Attributes)
  case delete(Int64)

  /// - Parameter ids: of the features that are there.
  package init(of ids: [Int64], _ random: inout FilterGenerator.SplitMix) {
    let kind = Int.random(in: 0..<10, using: &random)
    var attributes = Attributes()
    for column in ["name", "note"] where Bool.random(using: &random) {
      attributes[column] = .text("v\(Int.random(in: 0..<6, using: &random))")
    }
    if Bool.random(using: &random) {
      attributes["state"] = .integer(Int64.random(in: 0..<4, using: &random))
    }
    let place = Geometry.point(x: Double(Int.random(in: 0..<9, using: &random)), y: 1)
    if kind > 1, let id = ids.randomElement(using: &random) {
      self = kind == 2 ? .delete(id) : .update(id, kind < 5 ? place : nil, attributes)
    } else {
      self = .insert(place, attributes)
    }
  }
}
