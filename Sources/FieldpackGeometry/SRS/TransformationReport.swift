/// Which coordinate operation a transformation uses, and how accurate it is.
public struct TransformationReport: Hashable, Sendable {
  public var source: String
  public var target: String
  /// The operation's name, such as `UTM zone 33N`.
  public var operation: String
  /// The accuracy in metres; `nil` where PROJ does not know it.
  public var accuracy: Double?
  /// Grids that a better operation would need and that are not installed.
  public var missingGrids: [String]

  public init(
    source: String, target: String, operation: String, accuracy: Double?, missingGrids: [String]
  ) {
    self.source = source
    self.target = target
    self.operation = operation
    self.accuracy = accuracy
    self.missingGrids = missingGrids
  }
}

extension TransformationReport: CustomStringConvertible {
  /// `EPSG:4326 to EPSG:25833 by UTM zone 33N, to 0.1 m`.
  public var description: String {
    "\(source) to \(target) by \(operation)" + (accuracy.map { ", to \($0) m" } ?? "")
      + (missingGrids.isEmpty ? "" : "; without \(missingGrids.joined(separator: ", "))")
  }
}
