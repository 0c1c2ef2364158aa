import FieldpackGeometry
import FieldpackProjection
import Testing

@Suite struct GeodesicTests {
  // Values of geographiclib 2.1 for Python.
  @Test(arguments: [
    ([-73.78, 40.64, 103.99, 1.36], [15347512.94051294, 3.3057734780176125, 177.48784020815515]),
    ([13.4, 52.5, 2.35, 48.85], [879035.3878126009, -113.10859879854601, -121.67148638247576]),
    ([0, 0, 179.5, 0.5], [19936288.578965314, 25.67187286829188, 154.3270854699416]),
    ([0, 90, 0, -90], [20003931.458625447, 180, 180]),
    ([179.9, 10, -179.9, 10.1], [24556.579652876357, 63.211853401694796, 63.24675495329127]),
    ([13, 52, 13, 52], [0, 180, 180]),
  ])
  func `the inverse problem is geographiclib's`(ends: [Double], expected: [Double]) {
    let start = Position(x: ends[0], y: ends[1])
    let end = Position(x: ends[2], y: ends[3])
    let path = Geodesic.wgs84.path(from: start, to: end)
    #expect(abs(path.distance - expected[0]) < 1e-7)
    #expect(abs(path.azimuth - expected[1]) < 1e-10)
    #expect(abs(path.finalAzimuth - expected[2]) < 1e-10)
    #expect(Geodesic.wgs84.distance(from: start, to: end) == path.distance)
    #expect(Geodesic.wgs84.azimuth(from: start, to: end) == path.azimuth)
  }

  @Test(arguments: [
    ([-73.78, 40.64, 45, 10e6], [49.052487092959836, 32.6211004637258]),
    ([179, 0, 90, 500_000], [-176.5084235794024, 0]),
  ])
  func `the direct problem is geographiclib's`(given: [Double], expected: [Double]) {
    let end = Geodesic.wgs84.position(
      from: Position(x: given[0], y: given[1]), azimuth: given[2], distance: given[3])
    #expect(abs(end.x - expected[0]) < 1e-12 && abs(end.y - expected[1]) < 1e-12)
  }

  @Test(arguments: Dimensions.allCases)
  func `a line is as long as its parts`(dimensions: Dimensions) {
    let positions = [(13.4, 52.5), (2.35, 48.85), (-73.78, 40.64)]
    let line = CoordinateSequence(
      positions.map { Position(x: $0.0, y: $0.1, z: 8_000, m: 5) }, dimensions: dimensions)
    let parts =
      Geodesic.wgs84.distance(from: line[0], to: line[1])
      + Geodesic.wgs84.distance(from: line[1], to: line[2])
    #expect(Geodesic.wgs84.length(of: line) == parts)
    #expect(Geodesic.wgs84.length(of: CoordinateSequence(dimensions: dimensions)) == 0)
  }

  @Test func `a ring is measured on the ellipsoid, a pole inside it too`() {
    let square = CoordinateSequence(
      dimensions: .xy, ordinates: [0, 0, 10, 0, 10, 10, 0, 10, 0, 0])
    let cap = CoordinateSequence(dimensions: .xy, ordinates: [0, 80, 90, 80, 180, 80, -90, 80])
    let found = Geodesic.wgs84.measure(ring: square)
    #expect(abs(found.area - 1227877191609.6267) < 1)
    #expect(abs(found.perimeter - 4421256.128970485) < 1e-6)
    #expect(abs(Geodesic.wgs84.measure(ring: cap).area - 2507270031169.875) < 1)
    #expect(Geodesic.wgs84.measure(ring: CoordinateSequence()).area == 0)
  }

  @Test func `NaN gives NaN`() {
    let empty = Position(x: .nan, y: .nan)
    #expect(Geodesic.wgs84.distance(from: empty, to: Position(x: 0, y: 0)).isNaN)
  }
}
