import Fieldpack
import FieldpackProjection
import Foundation

/// Positions through PROJ in arrays, as a file is transformed.
enum Projecting {
  static func run(to target: String, count: Int) throws -> Figures {
    guard let srs = SRS(target) else { throw CocoaError(.formatting) }
    let transformation = try CoordinateTransformation(from: .wgs84, to: srs)
    var random = Random(seed: 21)
    var (x, y): ([Double], [Double]) = ([], [])
    for _ in 0..<count {
      x.append(random.uniform(5...25))
      y.append(random.uniform(45...55))
    }
    let start = ContinuousClock.now
    let failed = transformation.transform(x: &x, y: &y)
    let seconds = start.duration(to: .now) / .seconds(1)
    return Figures(seconds: seconds, count: count - failed.count)
  }
}
