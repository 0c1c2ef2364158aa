import FieldpackCore
import FieldpackGeometry
package import FieldpackLocation
import FieldpackProjection
import FieldpackTestSupport
import Foundation
import Testing

/// One of PhotoPath's simulated walks.
package struct PhotoPathWalk {
  package let waypoints: [Fix]

  /// - Parameter name: such as `Alexanderplatz`.
  package init(_ name: String) throws {
    let file = SharedData.url("field-systems/photopath/\(name)_SimulatedWalk.gpx")
    let text = try String(contentsOf: file, encoding: .utf8)
    waypoints = text.matches(of: #/<wpt lat="([^"]+)" lon="([^"]+)">/#).compactMap {
      guard let latitude = Double($0.1), let longitude = Double($0.2) else { return nil }
      return Fix(longitude: longitude, latitude: latitude)
    }
  }

  /// A fix every 7 m along each leg, and the waypoints.
  package var dense: [Fix] {
    var fixes: [Fix] = []
    for (start, end) in zip(waypoints, waypoints.dropFirst()) {
      let path = Geodesic.wgs84.path(from: start.position, to: end.position)
      fixes.append(start)
      var distance = 7.0
      while distance < path.distance {
        let position = Geodesic.wgs84.position(
          from: start.position, azimuth: path.azimuth, distance: distance)
        fixes.append(Fix(longitude: position.x, latitude: position.y))
        distance += 7
      }
    }
    return fixes + waypoints.suffix(1)
  }
}

/// What geographiclib's replay of a walk gave.
package struct ExpectedReplay: Decodable {
  package struct Events: Decodable {
    package let waypoints: Int
    package let dense: [Int]

    enum CodingKeys: String, CodingKey {
      case waypoints = "on_waypoints"
      case dense = "dense_indices"
    }
  }

  package let count: Int
  package let region: Events
  package let distance: Events

  enum CodingKeys: String, CodingKey {
    case count = "dense_fixes"
    case region = "region80_wgs84"
    case distance = "distance100_wgs84"
  }

  package static func read(_ name: String) throws -> ExpectedReplay {
    let file = SharedData.url("field-systems/photopath/expected_replay.json")
    let all = try JSONDecoder().decode(
      [String: ExpectedReplay].self, from: Data(contentsOf: file))
    return try #require(all["\(name)_SimulatedWalk.gpx"])
  }
}
