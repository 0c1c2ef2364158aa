import FieldpackCore
import FieldpackFormats
import FieldpackGeoPackage

/// Encodes features for layers of a new GeoPackage, on the thread that reads them.
///
/// The row encoder has no transformation, which is what keeps it to one thread elsewhere.
struct GeoPackageEncoder: FeatureEncoder, @unchecked Sendable {
  /// What the rows of one layer are, and how they are stored.
  struct Target: Sendable {
    var schema: Schema
    var plan: RowPlan
  }

  private let targets: [LayerID: Target]
  private let skipsErrors: Bool
  private let emptyRows: @Sendable () -> EncodedRows
  private(set) var target: Target?
  private var encoder: RowEncoder?
  var rows = EncodedRows()
  private(set) var skipped: [SkippedFeature] = []
  /// Why the feature behind those encoded cannot be stored.
  private(set) var failure: FieldpackError?

  init(
    _ targets: [LayerID: Target], skipsErrors: Bool,
    emptyRows: @escaping @Sendable () -> EncodedRows
  ) {
    self.targets = targets
    self.skipsErrors = skipsErrors
    self.emptyRows = emptyRows
  }

  var layer: LayerID? { target?.schema.layer }
  var count: Int { rows.count }
  var isFull: Bool { rows.isFull || failure != nil }

  mutating func begin(_ schema: Schema) throws(FieldpackError) {
    guard let target = targets[schema.layer], target.schema.columns == schema.columns else {
      throw FieldpackError(
        .invalidArgument, "layer '\(schema.layer)' was not announced as it comes",
        location: .init(layer: schema.layer))
    }
    self.target = target
    encoder = RowEncoder(target.plan)
    rows = emptyRows()
  }

  mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) throws(FieldpackError) {
    guard failure == nil else { return }
    do throws(FieldpackError) {
      try encoder?.encode(row, into: &rows)
    } catch {
      if skipsErrors, error.code == .invalidData {
        skipped.append(SkippedFeature(error))
      } else {
        failure = error.advisingToSkipRow()
      }
    }
  }
}
