package import FieldpackCore
package import FieldpackGeometry

/// What the index of a FlatGeobuf file tells before the features are read.
package struct FlatGeobufIndex: Sendable {
  /// The system of the boxes; `nil` where the file does not say it.
  package let srs: SRS?
  package let featureCount: Int

  /// Reads the header of a file; `nil` where the file has no index, or where only the features tell the
  /// columns.
  package init?(_ input: ByteInput) throws(FieldpackError) {
    var file = try FlatGeobufFile(input)
    guard file.header.nodeSize > 0 else { return nil }
    srs = file.header.srs
    featureCount = file.header.featureCount
    guard file.header.columns.isEmpty, let first = try file.nextFeature() else { return }
    guard try FlatBytes(bytes: first).root().vector(2, of: 4) == nil else { return nil }
  }

  /// Whether no more than `limit` features of the file have boxes that touch one of `boxes`.
  package func hasFew(
    in boxes: [Envelope], of input: ByteInput, limit: Int
  ) throws(FieldpackError) -> Bool {
    let file = try FlatGeobufFile(input)
    return try PackedIndex(of: file, input)?.features(touching: boxes, limit: limit) != nil
  }
}
