import Fieldpack

/// Edits of a logged layer in transactions of 1,000.
enum Editing {
  private static let share = 1000

  /// Gives the features 1 to `count` another number each.
  static func run(_ path: String, _ layer: LayerID, count: Int) async throws -> Figures {
    let store = try await GeoPackageStore(path: path, id: "bench")
    let (_, seconds) = try await Figures.timing {
      for first in stride(from: 1, through: count, by: share) {
        let ids = first..<min(first + share, count + 1)
        try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
          for id in ids {
            try writer.update(
              .integer(Int64(id)), in: layer, set: ["num": .integer(Int64(id))])
          }
        }
      }
    }
    await store.close()
    return Figures(seconds: seconds, count: count)
  }
}
