import FuzzSupport

private let targets = FuzzTargets([
  "geojson": FileTargets.geoJSON, "csv": FileTargets.csv, "gpx": FileTargets.gpx,
  "nmea": FileTargets.nmea, "igc": FileTargets.igc, "tcx": FileTargets.tcx,
  "shp": FileTargets.shapefile,
])

/// What libFuzzer calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  targets.run(start, count)
}
