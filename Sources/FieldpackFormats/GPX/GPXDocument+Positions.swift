import FieldpackCore

extension GPXDocument {
  static func coordinates(
    _ attributes: XMLAttributes
  ) -> (latitude: UnsafeBufferPointer<UInt8>?, longitude: UnsafeBufferPointer<UInt8>?) {
    var latitude: UnsafeBufferPointer<UInt8>?
    var longitude: UnsafeBufferPointer<UInt8>?
    for index in 0..<attributes.count {
      guard let name = attributes.name(index)?.local else { continue }
      if name.equals("lat") { latitude = attributes.value(index) }
      if name.equals("lon") { longitude = attributes.value(index) }
    }
    return (latitude, longitude)
  }

  static func degrees(_ text: UnsafeBufferPointer<UInt8>?, limit: Double) -> Double? {
    guard let text, let value = NumberParser.double(trimmed(text)), abs(value) <= limit else {
      return nil
    }
    return value
  }

  static func reason(
    _ latitude: UnsafeBufferPointer<UInt8>?, _ longitude: UnsafeBufferPointer<UInt8>?,
    _ kind: GPXLayerKind
  ) -> String {
    let isLatitudeBad = degrees(latitude, limit: 90) == nil
    let (name, text, limit) = isLatitudeBad ? ("lat", latitude, 90) : ("lon", longitude, 180)
    guard let text else { return "\(kind.element) has no \(name)" }
    let shown = String(decoding: text.prefix(40), as: UTF8.self)
    return "\(name) '\(shown)' of \(kind.element) is not a number from -\(limit) to \(limit)"
  }
}
