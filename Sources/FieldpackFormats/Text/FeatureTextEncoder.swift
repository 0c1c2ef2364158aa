package import FieldpackCore

/// Encodes features for a writer, into memory of its own.
///
/// Encoders of one writer work at the same time on pieces of a layer; the writer takes what they
/// made in the features' order and adds what stands around and between the features.
package protocol FeatureEncoder: PieceSink {
  /// The layer announced last.
  var layer: LayerID? { get }
  /// Features that were encoded and wait to be taken.
  var count: Int { get }
}

/// Encodes features as the text of a format.
package protocol FeatureTextEncoder: FeatureEncoder {
  /// Bytes of text that wait to be taken.
  var byteCount: Int { get }
  /// Why the feature behind those could not be encoded; the features that follow are not looked at.
  ///
  /// Kept, not thrown, so that the features before it are written.
  var failure: FieldpackError? { get }
}

extension FeatureTextEncoder {
  /// Whether the text is enough for one write.
  package var isFull: Bool { byteCount >= 1 << 18 || failure != nil }
}

extension Schema? {
  /// Whether this layer, of a format that takes but one, is announced again by `schema`.
  ///
  /// - Throws: `.invalidArgument` for a second layer.
  func isRepeated(by schema: Schema, in format: String) throws(FieldpackError) -> Bool {
    guard let first = self else { return false }
    if first.layer == schema.layer { return true }
    throw FieldpackError(
      .invalidArgument, "\(format) takes one layer, not '\(first.layer)' and '\(schema.layer)'",
      location: .init(layer: schema.layer))
  }
}

/// Writes a file from what its encoders made.
package protocol FeatureTextWriter: FeatureSink {
  associatedtype Encoder: FeatureTextEncoder
  /// An encoder for the layers announced so far.
  func encoder() -> Encoder
  /// Takes what `encoder` has made and leaves it empty, with its memory.
  ///
  /// - Throws: also the encoder's ``FeatureTextEncoder/failure``, when what was before it is taken.
  mutating func take(from encoder: inout Encoder) throws(FieldpackError)
  /// Completes the document. The caller finishes the output.
  mutating func finish() throws(FieldpackError)
  /// The features that were skipped.
  var skipped: [SkippedFeature] { get }
  /// Remarks on what the format has no place for.
  var notes: [String] { get }
}
