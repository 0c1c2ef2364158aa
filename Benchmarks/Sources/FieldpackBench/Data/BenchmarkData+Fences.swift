import Foundation

extension BenchmarkData {
  private static let fixesOfDevice = 200

  /// Fixes of 5,000 devices, in walks and in any order, 10,000 centres of circles and 1,000 areas of
  /// 50 vertices, most of them where the devices come by.
  ///
  /// A fix is 20 bytes: the device as an Int32, longitude and latitude as Doubles, little-endian.
  func writeFences() throws {
    var random = Random(seed: 31)
    let walks = (0..<max(1, Int(5000 * scale))).map { _ in Walk(&random) }
    var fixes: [(device: Int32, x: Double, y: Double)] = []
    for step in 0..<Self.fixesOfDevice {
      for (device, walk) in walks.enumerated() {
        fixes.append((Int32(device), walk.x[step], walk.y[step]))
      }
    }
    try write(fixes, to: "fixes-walks.bin")
    func anywhere() -> (x: Double, y: Double) {
      let fix = fixes[random.integer(below: fixes.count)]
      return (fix.x, fix.y)
    }
    let jumps = (0..<fixes.count).map { _ in
      let place = anywhere()
      return (Int32(random.integer(below: walks.count)), place.x, place.y)
    }
    try write(jumps, to: "fixes-jumps.bin")
    let circles = (0..<max(1, Int(10_000 * scale))).map { _ in
      let place = anywhere()
      return "\(place.x + random.normal(3e-4)) \(place.y + random.normal(2e-4))\n"
    }
    try save(circles.joined(), to: "circles.txt")
    let areas = (0..<max(1, Int(1000 * scale))).map { _ in
      let place = anywhere()
      let radius = random.uniform(0.002...0.01)
      let corners = (0..<49).map { corner -> String in
        let angle = 2 * Double.pi * Double(corner) / 49
        let share = radius * random.uniform(0.7...1)
        return "\(place.x + share * cos(angle)) \(place.y + 0.65 * share * sin(angle))"
      }
      return "POLYGON((\((corners + [corners[0]]).joined(separator: ","))))\n"
    }
    try save(areas.joined(), to: "areas.txt")
  }

  private func write(_ fixes: [(device: Int32, x: Double, y: Double)], to name: String) throws {
    var bytes = Data(capacity: fixes.count * 20)
    for fix in fixes {
      withUnsafeBytes(of: fix.device.littleEndian) { bytes.append(contentsOf: $0) }
      for value in [fix.x, fix.y] {
        withUnsafeBytes(of: value.bitPattern.littleEndian) { bytes.append(contentsOf: $0) }
      }
    }
    try bytes.write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
  }

  private func save(_ text: String, to name: String) throws {
    try text.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
  }
}
