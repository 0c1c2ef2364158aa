import FieldpackCore
import FieldpackGeometry

/// The parameter `bbox`: four numbers, or six with heights, which are ignored.
enum BoxParameter {
  /// Features whose geometry meets the box.
  ///
  /// - Throws: `.invalidArgument`.
  static func filter(
    _ text: String, crs: String?, of layer: ServedLayer, by axes: CRSAxes
  ) throws(FieldpackError) -> Filter {
    let name = try crs.map { (crs) throws(FieldpackError) in try system(crs) } ?? .crs84
    var numbers: [Double] = []
    // Bytes are compared, not characters, which takes a tenth of the time.
    for part in text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
      guard let number = Double(Substring(part)), number.isFinite else { throw refusal(text) }
      numbers.append(number)
    }
    if numbers.count == 6 { numbers = [numbers[0], numbers[1], numbers[3], numbers[4]] }
    guard numbers.count == 4 else { throw refusal(text) }
    if try axes.isNorthFirst(name, for: layer) {
      numbers = [numbers[1], numbers[0], numbers[3], numbers[2]]
    }
    guard numbers[1] <= numbers[3] else { throw refusal(text) }
    let box = Envelope(minX: numbers[0], minY: numbers[1], maxX: numbers[2], maxY: numbers[3])
    guard let geometry = layer.schema.geometry else { return .all }
    let crosses = box.minX > box.maxX
    guard !crosses || name.srs == .wgs84 else { throw refusal(text) }
    // The envelope of a point is the point. Elsewhere a geometry may lie beside the box that its
    // envelope meets.
    if geometry.type == .point, geometry.srs == name.srs {
      return .envelope(.intersects, box, srs: name.srs)
    }
    guard
      let area = CQL2.rectangle(
        west: box.minX, south: box.minY, east: box.maxX, north: box.maxY)
    else { throw refusal(text) }
    return .relation(.intersects, area, srs: name.srs)
  }

  static func system(_ text: String) throws(FieldpackError) -> CRSName {
    guard let name = CRSName(text) else {
      throw FieldpackError(.invalidArgument, "'\(text)' is no reference system that is known here")
    }
    return name
  }

  private static func refusal(_ text: String) -> FieldpackError {
    FieldpackError(
      .invalidArgument,
      "bbox is not four numbers, west, south, east and north, or six with heights: '\(text)'")
  }
}
