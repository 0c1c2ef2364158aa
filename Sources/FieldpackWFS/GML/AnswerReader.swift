import FieldpackCore
import FieldpackFormats

/// Reads an answer of features as it comes: GeoJSON or GML, whichever its first character shows.
///
/// Rows wait in ``rows`` until they are taken. Only the feature that is being read is held.
final class AnswerReader {
  private let shape: FeatureShape
  /// Told of features that cannot be read; `nil` ends the answer with the error.
  private let skip: ((FieldpackError) -> Void)?
  private var splitter = FeatureSplitter()
  private var parser: XMLTreeParser?
  private var isJSON: Bool?
  private var rows: [ValueRow] = []
  /// How many features the answer had so far.
  private(set) var count = 0

  init(_ shape: FeatureShape, skip: ((FieldpackError) -> Void)?) {
    self.shape = shape
    self.skip = skip
  }

  func push(_ bytes: [UInt8]) throws(FieldpackError) {
    if isJSON == nil {
      guard let first = bytes.first(where: { $0 > 0x20 && $0 != 0xEF && $0 != 0xBB && $0 != 0xBF })
      else { return }
      isJSON = first == UInt8(ascii: "{")
    }
    if isJSON == true {
      try splitter.push(bytes) { (bytes) throws(FieldpackError) in try self.take(bytes) }
    } else {
      try WFSConnection.push(bytes, to: try xml())
    }
  }

  func takeRows() -> [ValueRow] {
    defer { rows.removeAll(keepingCapacity: true) }
    return rows
  }

  /// Says that the answer has ended, and gives how many features match, where the service says so.
  func finish() throws(FieldpackError) -> Int? {
    if isJSON == true {
      let rest = try splitter.finish()
      guard rest["type"] == .text("FeatureCollection") else {
        throw FieldpackError(
          .invalidData, .otherDocument, "the answer is no collection of features")
      }
      var matched: Int?
      for name in ["numberMatched", "totalFeatures"] {
        if matched == nil, case .integer(let number)? = rest[name], number >= 0 {
          matched = Int(number)
        }
      }
      return matched
    }
    let root = try xml().finish()
    if ExceptionReport.isOne(root) { throw ExceptionReport.error(root) }
    guard root.name.local == "FeatureCollection" else {
      throw FieldpackError(
        .invalidData, .otherDocument,
        "the answer is no collection of features, but '\(root.name.local)'")
    }
    return Self.matched(root)
  }

  /// The number of features that match; of version 1.1.0 only an answer to hits tells it.
  static func matched(_ root: XMLTree) -> Int? {
    (root["numberMatched"] ?? root["numberOfFeatures"])
      .flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
  }

  private func take(_ bytes: [UInt8]) throws(FieldpackError) {
    count += 1
    do throws(FieldpackError) {
      guard let feature = try GeoJSONFeatures.read(bytes).first else { return }
      rows.append(shape.row(feature))
    } catch { try pass(error) }
  }

  private func pass(_ error: FieldpackError) throws(FieldpackError) {
    let error = error.adding(
      location: .init(layer: shape.schema.layer), position: FilePosition(feature: count))
    guard let skip else { throw error }
    skip(error)
  }

  private func xml() throws(FieldpackError) -> XMLTreeParser {
    if let parser { return parser }
    let made = try XMLTreeParser { [unowned self] (element) throws(FieldpackError) in
      try self.take(element)
    }
    parser = made
    return made
  }

  /// Takes an element that has ended, where it is a feature: two elements are around it, the
  /// collection and the member.
  private func take(_ element: XMLTree) throws(FieldpackError) -> Bool {
    let depth = parser?.depth ?? 0
    if depth > 0, ExceptionReport.isOne(element) { throw ExceptionReport.error(element) }
    guard depth <= 2 else { return false }
    // Members are empty when their features are taken.
    if depth == 1 { return Self.members.contains(element.name.local) }
    guard depth == 2, Self.isFeature(element) else { return false }
    count += 1
    do throws(FieldpackError) { rows.append(try shape.row(element)) } catch { try pass(error) }
    return true
  }

  private static let members: Set<String> = ["member", "featureMember", "featureMembers"]

  /// Elements of the standards are no features.
  private static func isFeature(_ element: XMLTree) -> Bool {
    let namespace = element.name.namespace ?? ""
    return !["gml", "wfs", "ows", "ogc"].contains { standard in
      namespace.hasPrefix("http://www.opengis.net/\(standard)")
    }
  }
}
