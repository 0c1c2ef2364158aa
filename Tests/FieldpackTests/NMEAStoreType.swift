import Fieldpack
import Foundation

/// `nmea.1`: the positions in the log of a GPS receiver.
struct NMEAStoreType: StoreType {
  static let identifier = "nmea.1"

  static func open(
    _ config: StoreConfig, in context: StoreContext
  ) async throws(FieldpackError) -> any Store {
    let file = try context.file(of: config)
    let table = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: table) }
    guard let log = try? String(contentsOfFile: file, encoding: .utf8),
      (try? Data(csv(of: log).utf8).write(to: table)) != nil
    else { throw config.failure(.io, "cannot make a table of '\(config.uri)'") }
    var options = FileStore.Options()
    (options.format, options.layer, options.cache) = (.csv, "fixes", .private)
    return try await FileStore(path: table.path, id: config.id, options: options)
  }

  private static func csv(of log: String) -> String {
    var rows = "lon,lat,time,satellites,altitude\n"
    for line in log.split(whereSeparator: \.isNewline) {
      let words = line.split(separator: ",", omittingEmptySubsequences: false)
      guard words.count > 9, words[0].hasSuffix("GGA"),
        let lat = Double(words[2]), let lon = Double(words[4])
      else { continue }
      let (y, x) = (degrees(lat, words[3] == "S"), degrees(lon, words[5] == "W"))
      rows += "\(x),\(y),\(words[1]),\(Int(words[7]) ?? 0),\(words[9])\n"
    }
    return rows
  }

  private static func degrees(_ value: Double, _ isNegative: Bool) -> Double {
    let whole = (value / 100).rounded(.towardZero)
    return (whole + (value - whole * 100) / 60) * (isNegative ? -1 : 1)
  }
}
