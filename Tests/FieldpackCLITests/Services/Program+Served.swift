import FieldpackTestSupport

extension Program {
  /// The address that `fieldpack serve field.gpkg` prints, with a slash at its end, once it is there.
  func servedAddress() throws -> String {
    try block(for: "its address") { outputSoFar.hasSuffix("map\n") }
    let line = outputSoFar.prefix { $0 != "\n" }
    return String(line.dropFirst("serving field.gpkg at ".count))
  }
}
