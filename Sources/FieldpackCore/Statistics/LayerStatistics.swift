public import FieldpackGeometry

/// What a query's rows of one layer hold, column by column; see ``Store/statistics(of:)``.
public struct LayerStatistics: Hashable, Sendable {
  public var layer: LayerID
  /// The number of rows.
  public var count = 0
  /// What the geometry column holds; `nil` in an answer without geometries.
  public var geometry: GeometryStatistics?
  /// The attribute columns, in the schema's order.
  public var columns: [ColumnStatistics] = []
}

/// What a geometry column holds.
public struct GeometryStatistics: Hashable, Sendable {
  public var column: String
  /// The number of rows without a geometry.
  public var nullCount = 0
  /// The number of geometries without a position.
  public var emptyCount = 0
  /// The number of geometries that are not valid WKB.
  public var damagedCount = 0
  /// The number of geometries of each type, empty ones included and damaged ones not.
  public var types: [GeometryType: Int] = [:]
  /// The smallest box around all positions; `nil` where there is none.
  public var envelope: Envelope?
}

/// What an attribute column holds.
public struct ColumnStatistics: Hashable, Sendable {
  /// A value and how often it occurs.
  public struct Frequency: Hashable, Sendable {
    public var value: Value
    public var count: Int
  }

  public var column: String
  public var type: ColumnType
  public var nullCount = 0
  /// The number of values of each kind but null. A column with several kinds has values that are
  /// not of its type.
  public var kinds: [ValueKind: Int] = [:]
  /// The number of distinct values without null. An integer and a real that are equal are one value.
  public var distinctCount = 0
  /// Whether ``distinctCount`` is an estimate, with a standard error of 0.8 %. It is one where there
  /// are more than 10,000 distinct values, or they have more than 4 MiB of texts and blobs.
  public var distinctIsEstimated = false
  /// The least value that is no blob: numbers come before texts, and texts compare by their bytes.
  public var least: Value?
  public var greatest: Value?
  /// The least and the greatest number of bytes of a blob; `nil` where there is no blob.
  public var blobLengths: ClosedRange<Int>?
  /// The mean of the numbers; `nil` where there is none, in a BOOLEAN column, and where it is no
  /// finite number.
  public var mean: Double?
  /// The five most frequent values that are no blobs and occur more than once, those of the same
  /// frequency in ascending order. Empty where ``distinctIsEstimated``.
  public var mostFrequent: [Frequency] = []
}
